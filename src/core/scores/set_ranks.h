// Numbers for the subsets of a set of variables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace twbn {

/// Ranks of sets in colexicographic order: {e_0 > e_1 > … > e_{m-1}} has rank Σ C(e_j, m − j), so
/// that sets which differ in their smallest member only are neighbours in memory.
class SetRanks {
 public:
  SetRanks(int n, int max_size) : width_(static_cast<std::size_t>(max_size) + 1) {
    binomial_.assign(static_cast<std::size_t>(n + 1) * width_, 0);
    for (int v = 0; v <= n; ++v) {
      at(v, 0) = 1;
      for (int j = 1; j <= std::min(v, max_size); ++j) {
        at(v, j) = at(v - 1, j - 1) + (j <= v - 1 ? at(v - 1, j) : 0);
      }
    }
  }
  std::size_t choose(int v, int j) const {
    return binomial_[static_cast<std::size_t>(v) * width_ + static_cast<std::size_t>(j)];
  }
  /// Rank contribution of a descending list of members, skipping positions `skip_a`, `skip_b`,
  /// when `below` smaller members follow it.
  std::size_t base(const std::vector<int>& members, int skip_a, int skip_b, int below) const {
    std::size_t rank = 0;
    int size = below;
    for (int j = static_cast<int>(members.size()) - 1; j >= 0; --j) {
      if (j == skip_a || j == skip_b) continue;
      ++size;
      rank += choose(members[static_cast<std::size_t>(j)], size);
    }
    return rank;
  }

 private:
  std::size_t& at(int v, int j) {
    return binomial_[static_cast<std::size_t>(v) * width_ + static_cast<std::size_t>(j)];
  }
  std::size_t width_;
  std::vector<std::size_t> binomial_;
};

}  // namespace twbn
