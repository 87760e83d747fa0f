// The best structure without a treewidth limit, by dynamic programming over subsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"
#include "scores/score_index.h"

namespace twbn {

/// Largest number of variables that `SubsetTables` takes.
inline constexpr int max_subset_variables = 28;

/// Bytes that `SubsetTables` needs for n variables.
double subset_dp_bytes(int n);

/// Best scores over all subsets (Silander and Myllymäki, 2006).
///
/// best_parents(v, S): the best score of v with parents inside S. to_go(S): the best that the
/// variables outside S can reach when they come after S in some order, each with parents from S
/// and those before it: an upper bound for every completion of a partial structure on S.
/// Time O(n² 2^n), space O(n 2^n).
class SubsetTables {
 public:
  /// Stops early when `control` expires; then `complete()` is false.
  /// `scores` replace those of the index, one for each of its sets.
  SubsetTables(const ScoreIndex& index, std::span<const double> scores, int n_jobs,
               Control& control);

  bool complete() const { return complete_; }
  int n() const { return n_; }
  double best_parents(int v, std::uint32_t subset) const {
    return best_[static_cast<std::size_t>(v)][squeeze(v, subset)];
  }
  double to_go(std::uint32_t subset) const { return to_go_[subset]; }
  double optimum() const { return to_go_[0]; }
  /// The parents of an optimal structure.
  std::vector<std::vector<std::int32_t>> optimal_parents() const;

 private:
  /// A subset without v as a number of n - 1 bits.
  static std::size_t squeeze(int v, std::uint32_t subset) {
    const std::uint32_t low = (std::uint32_t{1} << v) - 1;
    return (subset & low) | ((subset >> 1) & ~low);
  }
  void fill_best(int v);
  void fill_to_go(Control& control);

  const ScoreIndex& index_;
  std::span<const double> scores_;
  int n_;
  bool complete_ = false;
  std::vector<std::vector<double>> best_;
  std::vector<double> to_go_;
};

}  // namespace twbn
