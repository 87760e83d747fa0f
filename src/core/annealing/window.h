// The best parents of a few vertices, chosen jointly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scores/score_index.h"

namespace twbn {

/// Exact re-optimisation of consecutive vertices of a topological order: their order and all their
/// parents may change, everything else is fixed. A dynamic program over the subsets of the window
/// (Silander and Myllymäki, 2006, applied to a part of the structure): O(w²·2^w).
class WindowSearch {
 public:
  static constexpr int max_size = 12;
  /// May the vertices of the window have this parent from outside?
  using IsBefore = std::function<bool(std::int32_t)>;
  /// May this vertex have these parents at all?
  using Allows = std::function<bool(std::int32_t, std::span<const std::int32_t>)>;

  WindowSearch(const ScoreIndex& index, std::size_t max_parents);

  /// The highest sum of local scores; minus infinity when there is none. `window` is at most
  /// max_size vertices; `allows` says which sets are in play.
  double solve(std::span<const std::int32_t> window, const IsBefore& is_before,
               const Allows& allows);
  /// After `solve`: the vertices in their new order, and where in the table their parents are.
  std::span<const std::int32_t> order() const { return order_; }
  std::span<const std::int64_t> sets() const { return sets_; }

 private:
  struct Choice {
    std::uint32_t inside;  // members in the window
    std::int64_t set;
  };
  void list_choices(std::size_t position, std::span<const std::int32_t> window,
                    const IsBefore& is_before, const Allows& allows);

  const ScoreIndex& index_;
  std::size_t max_parents_;
  std::vector<std::int32_t> place_;             // of a vertex in the window, or -1
  std::vector<std::vector<Choice>> choices_;    // of each vertex of the window, best first
  std::vector<double> best_;                    // [position][predecessors in the window]
  std::vector<double> total_;                   // [set of the first vertices]
  std::vector<std::uint8_t> last_;
  std::vector<std::int32_t> order_;
  std::vector<std::int64_t> sets_;
};

}  // namespace twbn
