// Linear orders of the members of a clique, numbered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace twbn {

inline double factorial(int m) {
  double product = 1;
  for (int i = 2; i <= m; ++i) product *= i;
  return product;
}

/// A mask of a clique's members without one of them, as a mask of the clique: a zero bit is put in
/// at `position`.
inline std::uint32_t expand_mask(std::uint32_t mask, int position) {
  const std::uint32_t low = (std::uint32_t{1} << position) - 1;
  return (mask & low) | ((mask & ~low) << 1);
}

/// The converse: the bit at `position` is taken out.
inline std::uint32_t shrink_mask(std::uint32_t mask, int position) {
  const std::uint32_t low = (std::uint32_t{1} << position) - 1;
  return (mask & low) | ((mask >> 1) & ~low);
}

/// All orders of `size` members, in lexicographic order of the positions 0 .. size - 1.
class CliqueOrders {
 public:
  explicit CliqueOrders(int size)
      : n_orders_(static_cast<std::size_t>(factorial(size))),
        before_(static_cast<std::size_t>(size), std::vector<std::uint32_t>(n_orders_)),
        without_(before_) {
    std::vector<int> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    std::vector<int> rest;
    for (std::size_t index = 0; index < n_orders_; ++index) {
      std::uint32_t seen = 0;
      for (const int position : order) {
        before_[static_cast<std::size_t>(position)][index] = seen;
        seen |= std::uint32_t{1} << position;
      }
      for (int position = 0; position < size; ++position) {
        rest.clear();
        for (const int other : order) {
          if (other != position) rest.push_back(other - (other > position ? 1 : 0));
        }
        without_[static_cast<std::size_t>(position)][index] =
            static_cast<std::uint32_t>(rank_of(rest));
      }
      std::next_permutation(order.begin(), order.end());
    }
  }

  std::size_t size() const { return n_orders_; }
  /// By order: the mask of those before the member at `position`.
  const std::vector<std::uint32_t>& before(int position) const {
    return before_[static_cast<std::size_t>(position)];
  }
  /// By order: the number of the order that is left without the member at `position`.
  const std::vector<std::uint32_t>& without(int position) const {
    return without_[static_cast<std::size_t>(position)];
  }

 private:
  static std::size_t rank_of(const std::vector<int>& order) {
    std::size_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::size_t smaller = 0;
      for (std::size_t j = i + 1; j < order.size(); ++j) smaller += order[j] < order[i] ? 1 : 0;
      rank = rank * (order.size() - i) + smaller;
    }
    return rank;
  }
  std::size_t n_orders_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<std::vector<std::uint32_t>> without_;
};

}  // namespace twbn
