#include "bound/dual_ascent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"

namespace twbn {

namespace {

/// Families whose reduced values differ by less than this share of them are equally good.
constexpr double tolerance = 1e-11;
/// Share of the clusters around a variable whose prices are dropped.
constexpr double drop_share = 0.6;

}  // namespace

DualAscent::DualAscent(const ScoreIndex& index, std::uint64_t seed)
    : index_(index), random_(seed), inside_(at(index.n_variables())),
      watching_(at(index.n_variables())) {
  state_.values.assign(index.scores().begin(), index.scores().end());
  state_.best.resize(at(index.n_variables()));
  state_.tight.resize(at(index.n_variables()));
  for (std::int32_t v = 0; v < index.n_variables(); ++v) find_tight(v);
}

double DualAscent::bound() const {
  double sum = 0;
  for (const double value : state_.best) sum += value;
  for (const double price : state_.prices) sum -= price;
  return sum;
}

double DualAscent::slack(std::int32_t v) const {
  return tolerance * std::max(1.0, std::abs(state_.best[at(v)]));
}

void DualAscent::find_tight(std::int32_t v) {
  const auto offsets = index_.variable_offsets();
  double best = minus_infinity;
  for (auto f = offsets[at(v)]; f < offsets[at(v) + 1]; ++f) {
    best = std::max(best, state_.values[at(f)]);
  }
  state_.best[at(v)] = best;
  auto& tight = state_.tight[at(v)];
  tight.clear();
  for (auto f = offsets[at(v)]; f < offsets[at(v) + 1]; ++f) {
    if (state_.values[at(f)] >= best - slack(v)) tight.push_back(f);
  }
}

// Whether a family has no parent in the cluster at hand.
bool DualAscent::is_outside(std::int64_t family) const {
  for (const std::int32_t p : index_.parents(family)) {
    if (inside_[at(p)]) return false;
  }
  return true;
}

// Let every tight family watch one of its parents, all variables being inside; return the children
// of those that have none.
std::vector<std::int32_t> DualAscent::watch_all() {
  std::fill(inside_.begin(), inside_.end(), std::uint8_t{1});
  for (auto& list : watching_) list.clear();
  std::vector<std::int32_t> free;
  for (std::int32_t v = 0; v < index_.n_variables(); ++v) {
    for (const std::int64_t f : state_.tight[at(v)]) {
      const auto parents = index_.parents(f);
      if (!parents.empty()) {
        watching_[at(parents[0])].push_back({v, f});
      } else if (inside_[at(v)]) {
        inside_[at(v)] = 0;
        free.push_back(v);
      }
    }
  }
  return free;
}

// After some variables went out, take out those that have a tight family outside, too. A family
// that watches a variable which is out looks for another parent to watch; where all are out, its
// child goes. When all that went are put back, every family watches a parent inside again.
void DualAscent::cascade(std::vector<std::int32_t>& gone) {
  for (std::size_t i = 0; i < gone.size(); ++i) {
    std::vector<Watch> left;
    std::vector<Watch> all = std::move(watching_[at(gone[i])]);
    for (const Watch& watch : all) {
      if (!inside_[at(watch.child)]) {
        left.push_back(watch);
        continue;
      }
      const auto parents = index_.parents(watch.family);
      const auto other = std::find_if(parents.begin(), parents.end(),
                                      [&](std::int32_t p) { return inside_[at(p)] != 0; });
      if (other != parents.end()) {
        watching_[at(*other)].push_back(watch);
        continue;
      }
      left.push_back(watch);
      inside_[at(watch.child)] = 0;
      gone.push_back(watch.child);
    }
    watching_[at(gone[i])] = std::move(left);
  }
}

// Place variables; those that cannot be are a cluster, which is shrunk: members are dropped in
// random order, with those that then have a tight family outside, as long as some are left.
std::vector<std::int32_t> DualAscent::violated_cluster() {
  std::vector<std::int32_t> gone = watch_all();
  cascade(gone);
  std::vector<std::int32_t> order(inside_.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](std::int32_t v) { return !inside_[at(v)]; });
  std::vector<std::int32_t> cluster = order;
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_.below(static_cast<std::uint32_t>(i))]);
  }
  std::size_t n_left = cluster.size();
  for (const std::int32_t u : order) {
    if (!inside_[at(u)]) continue;
    gone.assign(1, u);
    inside_[at(u)] = 0;
    cascade(gone);
    if (gone.size() < n_left) {
      n_left -= gone.size();
    } else {
      for (const std::int32_t v : gone) inside_[at(v)] = 1;
    }
  }
  std::erase_if(cluster, [&](std::int32_t v) { return !inside_[at(v)]; });
  return cluster;
}

// Raise the price of the cluster at hand as far as it lowers the bound; false if it cannot be.
bool DualAscent::raise(const std::vector<std::int32_t>& cluster) {
  const auto offsets = index_.variable_offsets();
  double step = infinity;
  for (const std::int32_t v : cluster) {
    double most = minus_infinity;
    for (auto f = offsets[at(v)]; f < offsets[at(v) + 1]; ++f) {
      if (state_.values[at(f)] > most && is_outside(f)) most = state_.values[at(f)];
    }
    step = std::min(step, state_.best[at(v)] - most);
  }
  if (!(step > 0) || std::isinf(step)) return false;
  for (const std::int32_t v : cluster) {
    const double least = state_.best[at(v)] - slack(v);
    for (auto f = offsets[at(v)]; f < offsets[at(v) + 1]; ++f) {
      if (!is_outside(f)) continue;
      state_.values[at(f)] += step;
      if (state_.values[at(f)] >= least) state_.tight[at(v)].push_back(f);
    }
  }
  state_.clusters.push_back(cluster);
  state_.prices.push_back(step);
  return true;
}

bool DualAscent::climb(const Control& control) {
  while (!control.expired()) {
    const std::vector<std::int32_t> cluster = violated_cluster();
    if (cluster.empty() || !raise(cluster)) return true;
  }
  return false;
}

// Take the prices of most clusters that contain a variable away.
void DualAscent::drop_around(std::int32_t v) {
  const auto offsets = index_.variable_offsets();
  std::vector<std::uint8_t> touched(inside_.size());
  std::size_t kept = 0;
  for (std::size_t c = 0; c < state_.clusters.size(); ++c) {
    const auto& members = state_.clusters[c];
    const bool around = std::binary_search(members.begin(), members.end(), v);
    if (!around || random_.below(1000) >= 1000 * drop_share) {
      if (kept != c) {
        state_.clusters[kept] = std::move(state_.clusters[c]);
        state_.prices[kept] = state_.prices[c];
      }
      ++kept;
      continue;
    }
    std::fill(inside_.begin(), inside_.end(), std::uint8_t{0});
    for (const std::int32_t u : members) inside_[at(u)] = touched[at(u)] = 1;
    for (const std::int32_t u : members) {
      for (auto f = offsets[at(u)]; f < offsets[at(u) + 1]; ++f) {
        if (is_outside(f)) state_.values[at(f)] -= state_.prices[c];
      }
    }
  }
  state_.clusters.resize(kept);
  state_.prices.resize(kept);
  for (std::int32_t u = 0; u < index_.n_variables(); ++u) {
    if (touched[at(u)]) find_tight(u);
  }
}

void DualAscent::improve(int max_idle, const Control& control) {
  State best = state_;
  double least = bound();
  const auto n = static_cast<std::uint32_t>(index_.n_variables());
  for (int idle = 0; idle < max_idle && !control.expired(); ++idle) {
    drop_around(static_cast<std::int32_t>(random_.below(n)));
    climb(control);
    const double found = bound();
    if (found < least - tolerance * std::abs(least)) idle = -1;
    if (found <= least) {  // equally good is another place to go on from
      best = state_;
      least = found;
    } else {
      state_ = best;
    }
  }
  state_ = std::move(best);
}

}  // namespace twbn
