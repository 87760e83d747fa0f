// Bounds: cuts, and the values of families at prices.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "bound/cut_search.h"
#include "bound/dual_ascent.h"
#include "bound/family_pricer.h"
#include "python/arrays.h"
#include "python/module.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

std::vector<std::pair<double, std::vector<std::int32_t>>> cut_list(std::vector<Cut>&& cuts) {
  std::vector<std::pair<double, std::vector<std::int32_t>>> list;
  for (Cut& cut : cuts) list.emplace_back(cut.violation, std::move(cut.vertices));
  return list;
}

}  // namespace

void bind_bound(nb::module_& m) {
  m.def(
      "find_clusters",
      [](int n, Array1<std::int32_t> child, Array1<double> weight, Array1<std::int64_t> offsets,
         Array1<std::int32_t> parents, int n_steps, int tenure, double least,
         std::size_t max_cuts, std::uint64_t seed, std::optional<double> time_limit) {
        Random random(seed);
        Control control;
        control.set_time_limit(time_limit);
        std::vector<Cut> cuts;
        {
          nb::gil_scoped_release release;
          cuts = find_clusters({n, view(child), view(weight), view(offsets), view(parents)},
                                     n_steps, tenure, least, max_cuts, random, control);
        }
        return cut_list(std::move(cuts));
      },
      "n"_a, "child"_a, "weight"_a, "offsets"_a, "parents"_a, "n_steps"_a, "tenure"_a, "least"_a,
      "max_cuts"_a, "seed"_a, "time_limit"_a.none());
  m.def(
      "find_dense_sets",
      [](int n, Array2<double> edges, int k, int n_steps, double least, std::size_t max_cuts,
         std::uint64_t seed, std::optional<double> time_limit) {
        Random random(seed);
        Control control;
        control.set_time_limit(time_limit);
        std::vector<Cut> cuts;
        {
          nb::gil_scoped_release release;
          cuts = find_dense_sets(n, {edges.data(), edges.size()}, k, n_steps, least, max_cuts,
                                       random, control);
        }
        return cut_list(std::move(cuts));
      },
      "n"_a, "edges"_a, "k"_a, "n_steps"_a, "least"_a, "max_cuts"_a, "seed"_a,
      "time_limit"_a.none());
  nb::class_<DualAscent>(m, "DualAscent")
      .def(nb::init<const ScoreIndex&, std::uint64_t>(), "index"_a, "seed"_a, nb::keep_alive<1, 2>())
      .def(
          "climb",
          [](DualAscent& self, std::optional<double> time_limit) {
            nb::gil_scoped_release release;
            Control control;
            control.set_time_limit(time_limit);
            return self.climb(control);
          },
          "time_limit"_a.none())
      .def(
          "improve",
          [](DualAscent& self, int max_idle, std::optional<double> time_limit) {
            nb::gil_scoped_release release;
            Control control;
            control.set_time_limit(time_limit);
            self.improve(max_idle, control);
          },
          "max_idle"_a, "time_limit"_a.none())
      .def("bound", &DualAscent::bound)
      .def("clusters", &DualAscent::clusters)
      .def("prices", &DualAscent::prices);
  nb::class_<FamilyPricer>(m, "FamilyPricer")
      .def(nb::init<const ScoreIndex&>(), "index"_a, nb::keep_alive<1, 2>())
      .def(
          "values",
          [](const FamilyPricer& self, std::vector<std::vector<std::int32_t>> clusters,
             std::vector<double> cluster_weights, Array1<double> arc_charges,
             Array1<std::int32_t> pair_children, Array1<std::int32_t> pair_first,
             Array1<std::int32_t> pair_second, Array1<double> pair_charges, int n_jobs,
             std::optional<double> time_limit) {
            std::vector<double> values;
            {
              nb::gil_scoped_release release;
              Control control;
              control.set_time_limit(time_limit);
              values = self.values({std::move(clusters), std::move(cluster_weights),
                                    view(arc_charges), view(pair_children), view(pair_first),
                                    view(pair_second), view(pair_charges)},
                                   n_jobs, control);
              if (control.expired()) values.clear();  // some families have no value yet
            }
            return to_numpy(std::move(values));
          },
          "clusters"_a, "cluster_weights"_a, "arc_charges"_a, "pair_children"_a, "pair_first"_a,
          "pair_second"_a, "pair_charges"_a, "n_jobs"_a, "time_limit"_a.none());
}

}  // namespace twbn::python
