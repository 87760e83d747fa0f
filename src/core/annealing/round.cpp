#include "annealing/round.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace twbn {

std::vector<ChainResult> run_chains(ScoreLookup& scores, const CandidateArcs& arcs,
                                    const WidthLimit& limit, const Relations& relations,
                                    const ProvedNetwork& start,
                                    const std::vector<std::uint64_t>& streams,
                                    const Cooling& cooling, std::uint64_t seed, int n_jobs,
                                    Control& control, Board* board) {
  std::vector<ChainResult> found(streams.size());
  for_each_unit(
      static_cast<std::int64_t>(streams.size()), n_jobs, control, [] { return 0; },
      [&](std::int64_t unit, int) {
        AnnealChain chain(scores, arcs, limit, relations, start, seed, streams[at(unit)]);
        chain.run(cooling, control, board);
        found[at(unit)] = {chain.best(), chain.n_accepted(), chain.last()};
      },
      [](int) {});
  return found;
}

ProvedNetwork merged(ScoreLookup& scores, const CandidateArcs& arcs, const WidthLimit& limit,
                     const Relations& relations, const std::vector<ProvedNetwork>& networks,
                     const ParentLists& before, double temperature, std::uint64_t seed,
                     std::uint64_t stream) {
  std::vector<const ProvedNetwork*> order;
  for (const ProvedNetwork& network : networks) order.push_back(&network);
  std::stable_sort(order.begin(), order.end(), [](const ProvedNetwork* a, const ProvedNetwork* b) {
    return a->score > b->score;
  });
  AnnealChain chain(scores, arcs, limit, relations, *order[0], ~seed, stream);
  for (std::size_t i = 1; i < order.size(); ++i) chain.take_over(order[i]->parents, before, temperature);
  return chain.best();
}

}  // namespace twbn
