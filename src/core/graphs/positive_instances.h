// Is the treewidth at most k? Positive-instance driven dynamic programming.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"

namespace twbn {

enum class Decision { yes, no, stopped };

/// The answer and, for yes, a rooted tree decomposition: bags, and the parent bag of each (-1: root).
struct TreewidthDecision {
  Decision decision = Decision::stopped;
  std::vector<std::vector<std::int32_t>> bags;
  std::vector<std::int32_t> parents;
};

/// Largest graph that `decide_treewidth` takes.
inline constexpr int max_decision_vertices = 1024;

/// Decide whether a connected graph on 0 .. n - 1 has treewidth at most k (Tamaki, 2017).
///
/// A connected set C is feasible when G[C ∪ N(C)] has a tree decomposition of width at most k with
/// a bag that contains N(C). Only feasible sets are ever built, from smaller ones: a union A of
/// feasible sets that do not touch, and a bag X = N(A) ∪ (N(v) \ A) for some v in N(A), give the
/// feasible set A ∪ {u in X : N(u) ⊆ A ∪ X}. The tree is rooted at a bag with a fixed vertex, so
/// sets that contain it need not be built. Time and memory grow with the number of feasible sets.
TreewidthDecision decide_treewidth(int n, std::span<const std::int32_t> edges, int k,
                                   std::int64_t max_bytes, Control& control);

}  // namespace twbn
