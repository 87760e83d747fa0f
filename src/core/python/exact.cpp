// Exact search: dynamic programs over subsets and over bags.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "exact/bounded_dp.h"
#include "exact/live_search.h"
#include "exact/subset_dp.h"
#include "python/arrays.h"
#include "python/module.h"
#include "python/watch.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The tree of a search as plain values: number of the node, then edge, bound and number of each
// child.
using Children = std::vector<std::tuple<int, double, std::int64_t>>;

std::vector<std::pair<std::int64_t, Children>> told(const std::vector<Branching>& branchings) {
  std::vector<std::pair<std::int64_t, Children>> result;
  result.reserve(branchings.size());
  for (const Branching& branching : branchings) {
    Children children;
    for (const Branching::Child& child : branching.children) {
      children.emplace_back(child.edge, child.bound, child.number);
    }
    result.emplace_back(branching.number, std::move(children));
  }
  return result;
}

void bind_live(nb::module_& m) {
  m.attr("max_live_variables") = max_live_variables;
  m.attr("max_table_variables") = max_table_variables;
  m.def("live_table_bytes", &live_table_bytes, "n"_a);
  m.def(
      "live_subsets",
      [](const ScoreIndex& index, Array1<double> scores, const WidthLimit& limit, double known,
         double tolerance, std::vector<std::uint32_t> clusters, std::vector<double> prices,
         std::int64_t max_bytes, bool record, int n_jobs, std::optional<double> time_limit,
         nb::object on_progress) {
        Control control;
        control.set_time_limit(time_limit);
        LiveSearch search(index, view(scores), limit, known, tolerance,
                          {std::move(clusters), std::move(prices)}, max_bytes, record, n_jobs);
        auto report = [&] {
          if (on_progress.is_none()) return;
          const nb::object heard = on_progress(control.done.load());
          if (heard.is_none()) return;
          const auto [score, n_threads] = nb::cast<std::pair<double, int>>(heard);
          search.hear(score, n_threads);
        };
        auto [status, interrupted] = run_watched(
            control, report, [&](Control& shared) { return search.run(shared); });
        const char* text = interrupted                            ? "interrupted"
                           : status == LiveStatus::solved         ? "solved"
                           : status == LiveStatus::out_of_memory  ? "out_of_memory"
                                                                  : "stopped";
        return std::tuple(std::string(text), search.families(), search.bound(),
                          search.root_bound(), search.n_nodes(), search.n_live(),
                          told(search.branchings()));
      },
      "index"_a, "scores"_a, "limit"_a, "known"_a, "tolerance"_a, "clusters"_a,
      "prices"_a, "max_bytes"_a, "record"_a,
      "n_jobs"_a, "time_limit"_a.none(), "on_progress"_a.none());
}

}  // namespace

void bind_exact(nb::module_& m) {
  m.attr("max_subset_variables") = max_subset_variables;
  m.attr("max_dp_variables") = max_dp_variables;
  m.def("subset_dp_bytes", &subset_dp_bytes, "n"_a);
  nb::class_<SubsetTables>(m, "SubsetTables")
      .def("complete", &SubsetTables::complete)
      .def("optimum", &SubsetTables::optimum)
      .def("optimal_parents", &SubsetTables::optimal_parents);
  m.def(
      "subset_tables",
      [](const ScoreIndex& index, Array1<double> scores, int n_jobs,
         std::optional<double> time_limit) {
        Control control;
        control.set_time_limit(time_limit);
        auto [tables, interrupted] = run_watched(control, [&](Control& shared) {
          return std::make_unique<SubsetTables>(index, view(scores), n_jobs, shared);
        });
        if (interrupted) {
          PyErr_SetNone(PyExc_KeyboardInterrupt);
          throw nb::python_error();
        }
        return std::move(tables);
      },
      "index"_a, "scores"_a, "n_jobs"_a, "time_limit"_a.none(), nb::keep_alive<0, 1>(),
      nb::keep_alive<0, 2>());
  m.def(
      "bounded_dp",
      [](const SubsetTables& tables, int k, double lower_bound, std::int64_t max_bytes,
         int n_jobs, std::optional<double> time_limit, nb::object on_progress) {
        Control control;
        control.set_time_limit(time_limit);
        auto dp = std::make_unique<BoundedDp>(tables, k, lower_bound, max_bytes);
        auto [outcome, interrupted] = run_watched(
            control, progress_report(control, on_progress), [&](Control& shared) { return dp->run(n_jobs, shared); });
        std::vector<std::uint32_t> parents;
        std::vector<std::int32_t> order;
        const bool found = outcome == DpOutcome::solved && !std::isinf(dp->score());
        if (found) dp->trace(parents, order);
        const char* text = interrupted                                   ? "interrupted"
                           : outcome == DpOutcome::solved          ? "solved"
                           : outcome == DpOutcome::out_of_memory   ? "out_of_memory"
                                                                         : "stopped";
        return std::tuple(std::string(text), dp->score(), std::move(parents), std::move(order),
                          dp->n_states());
      },
      "tables"_a, "k"_a, "lower_bound"_a, "max_bytes"_a, "n_jobs"_a, "time_limit"_a.none(),
      "on_progress"_a.none());
  bind_live(m);
}

}  // namespace twbn::python
