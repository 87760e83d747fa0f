// Graphs: elimination orders, treewidth, codes of k-trees.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "graphs/dandelion.h"
#include "graphs/elimination.h"
#include "graphs/positive_instances.h"
#include "graphs/small_treewidth.h"
#include "graphs/width_limit.h"
#include "python/arrays.h"
#include "python/module.h"
#include "python/watch.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_graphs(nb::module_& m) {
  m.def(
      "greedy_elimination",
      [](int n, Array2<std::int32_t> edges, bool fill, std::uint64_t seed, int give_up_above,
         std::optional<double> time_limit) {
        EliminationOrder result;
        {
          nb::gil_scoped_release release;
          Random random(seed);
          Control control;
          control.set_time_limit(time_limit);
          result = greedy_elimination(
              n, {edges.data(), edges.size()},
              fill ? Greedy::min_fill : Greedy::min_degree, random, give_up_above,
              control);
        }
        return std::tuple(result.width, to_numpy(std::move(result.order)));
      },
      "n"_a, "edges"_a, "fill"_a, "seed"_a, "give_up_above"_a, "time_limit"_a.none());

  nb::class_<WidthLimit>(m, "WidthLimit")
      .def(
          "__init__",
          [](WidthLimit* self, int k, double max_states, const std::vector<std::int32_t>& n_states) {
            new (self) WidthLimit(k, max_states, n_states);
          },
          "k"_a, "max_states"_a, "n_states"_a);
  m.def(
      "small_elimination_order",
      [](const std::vector<std::pair<int, int>>& edges,
         const WidthLimit& limit) -> std::optional<std::vector<std::int32_t>> {
        SmallGraph graph;
        for (const auto& [u, v] : edges) {
          if (u < 0 || v < 0 || u > 31 || v > 31) throw nb::value_error("at most 32 vertices");
          graph.add_edge(u, v);
        }
        SmallTreewidth decision(limit);
        if (!decision.within_limit(graph)) return std::nullopt;
        return decision.order();
      },
      "edges"_a, "limit"_a);
  m.attr("max_decision_vertices") = max_decision_vertices;
  m.def(
      "decide_treewidth",
      [](int n, Array2<std::int32_t> edges, int k, std::int64_t max_bytes,
         std::optional<double> time_limit) {
        Control control;
        control.set_time_limit(time_limit);
        auto [result, interrupted] = run_watched(control, [&](Control& shared) {
          return decide_treewidth(n, {edges.data(), edges.size()}, k, max_bytes, shared);
        });
        const char* answer = result.decision == Decision::yes  ? "yes"
                             : result.decision == Decision::no ? "no"
                             : interrupted                           ? "interrupted"
                                                                     : "stopped";
        return std::tuple(std::string(answer), std::move(result.bags), std::move(result.parents));
      },
      "n"_a, "edges"_a, "k"_a, "max_bytes"_a, "time_limit"_a.none());

  m.def(
      "dandelion_sample",
      [](int n, int k, std::uint64_t seed, std::uint64_t stream) {
        Random random(seed, stream);
        DandelionCode code;
        DandelionDecoder(n, k).sample(random, code);
        return std::tuple(std::move(code.q), std::move(code.node), std::move(code.label));
      },
      "n"_a, "k"_a, "seed"_a, "stream"_a);
  m.def(
      "dandelion_decode",
      [](int n, int k, std::vector<std::int32_t> q, std::vector<std::int32_t> node,
         std::vector<std::int32_t> label) {
        KTreeSteps tree;
        DandelionDecoder(n, k).decode({std::move(q), std::move(node), std::move(label)}, tree);
        return steps_tuple(tree);
      },
      "n"_a, "k"_a, "q"_a, "node"_a, "label"_a);
}

}  // namespace twbn::python
