// Several chains at once, each from its own structure.
#pragma once

#include <cstdint>
#include <vector>

#include "annealing/chain.h"

namespace twbn {

/// What one chain has found.
struct ChainResult {
  ProvedNetwork best;
  std::int64_t n_accepted = 0;
};

/// Where a chain begins, and its stream of random numbers.
struct ChainStart {
  ProvedNetwork network;
  std::uint64_t stream = 0;
};

/// Cool one chain from every start on `n_jobs` threads. A chain that never started because
/// `control` had expired has no parents.
std::vector<ChainResult> run_chains(ScoreLookup& scores, const CandidateArcs& arcs, int k,
                                    const std::vector<ChainStart>& starts, const Cooling& cooling,
                                    std::uint64_t seed, int n_jobs, Control& control, Board* board);

}  // namespace twbn
