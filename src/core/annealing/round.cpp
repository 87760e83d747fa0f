#include "annealing/round.h"

#include "base/numbers.h"

namespace twbn {

std::vector<ChainResult> run_chains(ScoreLookup& scores, const CandidateArcs& arcs, int k,
                                    const std::vector<ChainStart>& starts, const Cooling& cooling,
                                    std::uint64_t seed, int n_jobs, Control& control,
                                    Board* board) {
  std::vector<ChainResult> found(starts.size());
  for_each_unit(
      static_cast<std::int64_t>(starts.size()), n_jobs, control, [] { return 0; },
      [&](std::int64_t unit, int) {
        const ChainStart& start = starts[at(unit)];
        AnnealChain chain(scores, arcs, k, start.network, seed, start.stream);
        chain.run(cooling, control, board);
        found[at(unit)] = {chain.best(), chain.n_accepted()};
      },
      [](int) {});
  return found;
}

}  // namespace twbn
