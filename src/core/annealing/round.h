// Several chains at once, each from its own structure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "annealing/chain.h"

namespace twbn {

/// What one chain has found: the best structure, and the one in which it ended if that is another.
struct ChainResult {
  ProvedNetwork best;
  std::int64_t n_accepted = 0;
  std::optional<ProvedNetwork> last{};
};

/// Cool chains from one structure, one for each stream of random numbers, on `n_jobs` threads. A
/// chain that never started because `control` had expired has no parents.
std::vector<ChainResult> run_chains(ScoreLookup& scores, const CandidateArcs& arcs,
                                    const WidthLimit& limit, const Relations& relations,
                                    const ProvedNetwork& start,
                                    const std::vector<std::uint64_t>& streams,
                                    const Cooling& cooling, std::uint64_t seed, int n_jobs,
                                    Control& control, Board* board);

/// The best of some structures, with what gains of the changes that the others have made since
/// `before`, at the temperature where cooling ends.
ProvedNetwork merged(ScoreLookup& scores, const CandidateArcs& arcs, const WidthLimit& limit,
                     const Relations& relations, const std::vector<ProvedNetwork>& networks,
                     const ParentLists& before, double temperature, std::uint64_t seed,
                     std::uint64_t stream);

}  // namespace twbn
