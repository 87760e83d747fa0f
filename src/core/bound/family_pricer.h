// Lagrangian bounds over all families of a score table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"
#include "scores/score_index.h"

namespace twbn {

/// Multipliers of the rows of a relaxation. Clusters reward families without parents in them;
/// pairs charge families for the edges that they need.
struct Multipliers {
  std::vector<std::vector<std::int32_t>> clusters;
  std::vector<double> cluster_weights;
  /// Charge for the arc between a and b, either way: [a * n + b], symmetric; may be empty.
  std::span<const double> arc_charges;
  /// Charge for parents a < b of child, as triples with a weight each.
  std::span<const std::int32_t> pair_children;
  std::span<const std::int32_t> pair_first;
  std::span<const std::int32_t> pair_second;
  std::span<const double> pair_charges;
};

/// The families of a score table as bit masks.
class FamilyPricer {
 public:
  explicit FamilyPricer(const ScoreIndex& index);

  /// The value of every family: its score, plus rewards, less charges. O(families · clusters of
  /// its child).
  std::vector<double> values(const Multipliers& multipliers, int n_jobs, Control& control) const;

 private:
  const ScoreIndex& index_;
  std::size_t n_words_;
  std::vector<std::uint64_t> masks_;  // word by word: one entry for each family
};

}  // namespace twbn
