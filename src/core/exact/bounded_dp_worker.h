// One bag at one level of the dynamic program of bounded_dp.h.
#pragma once

#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "exact/bounded_dp.h"

namespace twbn {

/// Approximate overhead in bytes of a list of states: its table entry, and that of the allocator.
inline constexpr std::int64_t key_bytes = 112;

/// Makes the states of a bag with a given number of vertices below it, and forgets its members
/// into separators for the next level. One object per thread; it writes only to the bag at hand.
class BoundedDp::Worker {
 public:
  Worker(BoundedDp& dp, int size, Control& control);

  void run(Bag& bag, const std::vector<std::uint32_t>& belows);
  /// The states of a bag after members took parents inside it, as `run` made them.
  States placed(const Bag& bag, std::uint32_t below, const States& from);

  Separators forgotten;
  std::int64_t n_states = 0;
  double best = minus_infinity;
  std::uint32_t best_bag = 0;
  std::uint32_t best_order = 0;

 private:
  struct Join {
    std::uint32_t below;
    const States* left;
    const States* right;  // null: the left one stands alone
  };

  void look_at(const Bag& bag);
  void offer(std::uint32_t order, std::uint32_t placed, double score);
  States collect();
  void branch(Bag& bag, std::uint32_t below);
  void join(const Join& pair);
  States place(const States& from);
  void keep(Bag& bag, std::uint32_t below, States&& states);
  void forget(std::uint32_t bag, std::uint32_t below, const States& from);
  void count(const States& states);

  BoundedDp& dp_;
  int size_;
  Control& control_;
  std::vector<int> who_;               // members of the bag at hand
  std::vector<double> local_;          // best local score by position and mask of positions
  std::vector<double> threshold_;      // by mask of placed positions, for the set below at hand
  std::vector<double> grid_;           // best score by order and mask
  std::vector<std::uint32_t> touched_;
  std::vector<Join> joins_;
};

}  // namespace twbn
