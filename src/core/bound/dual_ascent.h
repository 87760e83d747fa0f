// A bound by raising the prices of clusters one at a time: quick, and good enough to start from.
#pragma once

#include <cstdint>
#include <vector>

#include "base/control.h"
#include "base/random.h"
#include "scores/score_index.h"

namespace twbn {

/// Dual ascent on the cluster rows of the relaxation, in the manner of Trösser, de Givry and
/// Katsirelos (2021).
///
/// A structure is acyclic, so in every cluster of variables some member has no parent in it. Each
/// cluster has a price; the reduced value of a family is its score plus the prices of the clusters
/// that it satisfies (child in the cluster, no parent in it), and no structure scores more than the
/// sum over children of the largest reduced value, less all prices. A family is tight if its
/// reduced value is its child's largest. Variables are placed one after the other, each when a tight
/// family of it lies among those placed. The rest is a cluster that no tight family satisfies; it is
/// shrunk to a minimal one, whose price can be raised until one of its families becomes tight, which
/// lowers the bound by as much.
class DualAscent {
 public:
  DualAscent(const ScoreIndex& index, std::uint64_t seed);

  /// Raise prices until every variable can be placed; false if the time is over before.
  bool climb(const Control& control);
  /// Again and again, drop the prices of clusters around a variable and climb anew; keep what is
  /// better. Ends with the time, or after `max_idle` rounds without a gain.
  void improve(int max_idle, const Control& control);

  double bound() const;
  const std::vector<std::vector<std::int32_t>>& clusters() const { return state_.clusters; }
  const std::vector<double>& prices() const { return state_.prices; }

 private:
  struct State {
    std::vector<double> values;  // of every family
    std::vector<double> best;    // of every child
    std::vector<std::vector<std::int64_t>> tight;
    std::vector<std::vector<std::int32_t>> clusters;  // members ascending
    std::vector<double> prices;
  };

  // A tight family that waits for one of its parents to go out.
  struct Watch {
    std::int32_t child;
    std::int64_t family;
  };

  bool is_outside(std::int64_t family) const;
  std::vector<std::int32_t> watch_all();
  void cascade(std::vector<std::int32_t>& gone);
  std::vector<std::int32_t> violated_cluster();
  bool raise(const std::vector<std::int32_t>& cluster);
  void drop_around(std::int32_t v);
  void find_tight(std::int32_t v);
  double slack(std::int32_t v) const;

  const ScoreIndex& index_;
  Random random_;
  State state_;
  std::vector<std::uint8_t> inside_;  // whether a variable is in the cluster at hand
  std::vector<std::vector<Watch>> watching_;  // for each variable
};

}  // namespace twbn
