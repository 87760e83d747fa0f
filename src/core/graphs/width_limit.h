// What a bag of a tree decomposition may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace twbn {

/// At most k + 1 variables and, if states are limited, at most so many joint states: the product of
/// the variables' numbers of states. Products are doubles, exact up to 2^53; limits are below that.
class WidthLimit {
 public:
  explicit WidthLimit(int k) : k_(k) {}
  /// `n_states` has one entry for each variable, or none if states are not limited.
  WidthLimit(int k, double max_states, std::span<const std::int32_t> n_states)
      : k_(k), max_states_(max_states), n_states_(n_states.begin(), n_states.end()) {}

  int k() const { return k_; }
  bool limits_states() const { return !n_states_.empty(); }
  double max_states() const { return max_states_; }
  double n_states(std::int32_t v) const { return n_states_[static_cast<std::size_t>(v)]; }
  /// Whether a vertex and others may share a bag.
  template <typename Vertices>
  bool allows(std::int32_t v, const Vertices& others) const {
    if (static_cast<int>(others.size()) > k_) return false;
    if (!limits_states()) return true;
    double states = n_states(v);
    for (const std::int32_t u : others) states *= n_states(u);
    return states <= max_states_;
  }

 private:
  int k_;
  double max_states_ = std::numeric_limits<double>::infinity();
  std::vector<double> n_states_;
};

}  // namespace twbn
