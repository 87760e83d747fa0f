// Annealing: several chains in threads.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "annealing/round.h"
#include "python/arrays.h"
#include "python/module.h"
#include "python/watch.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_annealing(nb::module_& m) {
  nb::class_<Relations>(m, "Relations")
      .def(
          "__init__",
          [](Relations* self, Relations::Pairs adjacent, Relations::Pairs ancestors,
             Relations::Pairs non_ancestors) {
            new (self) Relations{std::move(adjacent), std::move(ancestors), std::move(non_ancestors)};
          },
          "adjacent"_a, "ancestors"_a, "non_ancestors"_a);
  nb::class_<CandidateArcs>(m, "CandidateArcs").def(nb::init<const ScoreLookup&>(), "scores"_a);
  m.def(
      "ranked_arcs",
      [](Array1<std::int64_t> offsets, Array1<std::int32_t> vertices) {
        return CandidateArcs(view(offsets), view(vertices));
      },
      "offsets"_a, "vertices"_a);
  m.def(
      "anneal",
      [](ScoreLookup& scores, const CandidateArcs& arcs, const WidthLimit& limit,
         const Relations& relations, const ParentLists& parents,
         const std::vector<std::int32_t>& order, const std::vector<std::uint64_t>& streams,
         double hottest, double coldest, std::uint64_t seed, std::int64_t n_proposals,
         double seconds, int max_parents, int n_jobs, nb::object on_progress,
         nb::object on_best) {
        Control control;
        control.set_time_limit(seconds);
        Board board;
        const bool watched = !on_best.is_none();
        const auto report = [&] {
          if (watched) {
            if (auto best = board.take()) on_best(best->score, best->parents, best->order);
          }
          if (!on_progress.is_none() && nb::cast<bool>(on_progress(control.done.load()))) {
            control.enough = true;
          }
        };
        auto [found, interrupted] = run_watched(control, report, [&](Control& shared) {
          return run_chains(scores, arcs, limit, relations, {0, parents, order}, streams,
                            {hottest, coldest, n_proposals, seconds, max_parents}, seed, n_jobs, shared,
                            watched ? &board : nullptr);
        });
        nb::list chains;
        for (ChainResult& chain : found) {
          chains.append(nb::make_tuple(chain.best.score, std::move(chain.best.parents),
                                       std::move(chain.best.order), chain.n_accepted));
          if (!chain.last) continue;
          chains.append(nb::make_tuple(chain.last->score, std::move(chain.last->parents),
                                       std::move(chain.last->order), 0));
        }
        return nb::make_tuple(chains, control.done.load(), interrupted);
      },
      "scores"_a, "arcs"_a, "limit"_a, "relations"_a, "parents"_a, "order"_a, "streams"_a, "hottest"_a,
      "coldest"_a, "seed"_a, "n_proposals"_a, "seconds"_a, "max_parents"_a, "n_jobs"_a,
      "on_progress"_a.none(), "on_best"_a.none());
  m.def(
      "merged",
      [](ScoreLookup& scores, const CandidateArcs& arcs, const WidthLimit& limit,
         const Relations& relations,
         const std::vector<std::tuple<double, ParentLists, std::vector<std::int32_t>>>& chains,
         const ParentLists& before, double temperature, std::uint64_t seed, std::uint64_t stream) {
        std::vector<ProvedNetwork> networks;
        for (const auto& [score, parents, order] : chains) {
          networks.push_back({score, parents, order});
        }
        ProvedNetwork best;
        {
          nb::gil_scoped_release release;
          best = merged(scores, arcs, limit, relations, networks, before, temperature, seed, stream);
        }
        return std::tuple(best.score, std::move(best.parents), std::move(best.order));
      },
      "scores"_a, "arcs"_a, "limit"_a, "relations"_a, "chains"_a, "before"_a, "temperature"_a, "seed"_a,
      "stream"_a);
}

}  // namespace twbn::python
