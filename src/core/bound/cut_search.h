// Cuts that a fractional structure violates, found by local search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"
#include "base/random.h"

namespace twbn {

struct Cut {
  double violation;
  std::vector<std::int32_t> vertices;  // ascending
};

/// The families of positive weight in a fractional structure; parents of family t are
/// parents[offsets[t] .. offsets[t + 1]).
struct FractionalNetwork {
  int n;
  std::span<const std::int32_t> child;
  std::span<const double> weight;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> parents;
};

/// Clusters K whose cut is violated: in a structure some member of K has no parent in K, so the
/// weights of the families of K's members without parents in K must sum to at least one. Runs a
/// tabu search from every vertex, which does not touch a flipped vertex for `tenure` steps, and
/// returns the best cut of each, most violated first, at most `max_cuts`. When `control` expires,
/// returns those found so far.
std::vector<Cut> find_clusters(const FractionalNetwork& network, int n_steps, int tenure, double least,
                               std::size_t max_cuts, Random& random, const Control& control);

/// Sets U of at least k + 2 vertices with more than k|U| − k(k + 1)/2 edges inside, which no graph
/// of treewidth k has. `edges` is a symmetric matrix of weights.
std::vector<Cut> find_dense_sets(int n, std::span<const double> edges, int k, int n_steps,
                                 double least, std::size_t max_cuts, Random& random,
                                 const Control& control);

}  // namespace twbn
