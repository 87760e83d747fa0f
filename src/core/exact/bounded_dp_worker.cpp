#include "exact/bounded_dp_worker.h"

#include <algorithm>
#include <bit>

#include "base/numbers.h"

namespace twbn {

BoundedDp::Worker::Worker(BoundedDp& dp, int size, Control& control)
    : dp_(dp),
      size_(size),
      control_(control),
      local_(static_cast<std::size_t>(dp.k_ + 1) * dp.n_masks_),
      grid_(dp.orders_.size() * dp.n_masks_, minus_infinity) {}

void BoundedDp::Worker::look_at(const Bag& bag) {
  who_ = members(bag.mask);
  for (std::uint32_t mask = 0; mask < dp_.n_masks_; ++mask) {
    std::uint32_t vertices = 0;
    for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
      vertices |= bit(who_[static_cast<std::size_t>(std::countr_zero(rest))]);
    }
    for (int position = 0; position <= dp_.k_; ++position) {
      if ((mask >> position & 1) != 0) continue;
      local_[static_cast<std::size_t>(position) * dp_.n_masks_ + mask] =
          dp_.tables_.best_parents(who_[static_cast<std::size_t>(position)], vertices);
    }
  }
}

void BoundedDp::Worker::run(Bag& bag, const std::vector<std::uint32_t>& belows) {
  if (size_ == 0) {
    States start;
    for (std::uint32_t order = 0; order < dp_.orders_.size(); ++order) {
      start.push_back({order, 0, 0.0});
    }
    look_at(bag);
    dp_.thresholds(who_, 0, threshold_);
    keep(bag, 0, std::move(start));
    return;
  }
  const auto size = static_cast<std::size_t>(size_);
  if (!belows.empty()) look_at(bag);
  for (const std::uint32_t below : belows) {
    if (control_.expired()) return;
    branch(bag, below);
  }
  // A union of branches is built once: the joined part holds its smallest vertex.
  joins_.clear();
  for (const Entry& alone : bag.branches[size]) {
    joins_.push_back({alone.below, &alone.states, nullptr});
  }
  for (std::size_t left = 1; left < size; ++left) {
    for (const Entry& a : bag.joined[left]) {
      for (const Entry& b : bag.branches[size - left]) {
        if ((a.below & b.below) == 0 && std::countr_zero(a.below) < std::countr_zero(b.below)) {
          joins_.push_back({a.below | b.below, &a.states, &b.states});
        }
      }
    }
  }
  if (joins_.empty()) return;
  if (belows.empty()) look_at(bag);
  std::stable_sort(joins_.begin(), joins_.end(),
                   [](const Join& a, const Join& b) { return a.below < b.below; });
  for (std::size_t first = 0; first < joins_.size();) {
    if (control_.expired()) return;
    const std::uint32_t below = joins_[first].below;
    dp_.thresholds(who_, below, threshold_);
    for (; first < joins_.size() && joins_[first].below == below; ++first) join(joins_[first]);
    keep(bag, below, collect());
  }
}

// Drops what cannot exceed the lower bound.
void BoundedDp::Worker::offer(std::uint32_t order, std::uint32_t placed, double score) {
  if (!(score > threshold_[placed])) return;
  const std::uint32_t place = order * dp_.n_masks_ + placed;
  double& known = grid_[place];
  if (known == minus_infinity) touched_.push_back(place);
  known = std::max(known, score);
}

// Takes the states out of the grid and clears it.
BoundedDp::States BoundedDp::Worker::collect() {
  std::sort(touched_.begin(), touched_.end());
  States states;
  states.reserve(touched_.size());
  for (const std::uint32_t place : touched_) {
    states.push_back({place / dp_.n_masks_, place % dp_.n_masks_, grid_[place]});
    grid_[place] = minus_infinity;
  }
  touched_.clear();
  return states;
}

// States of a bag that come from one separator: a vertex is introduced at every place.
void BoundedDp::Worker::branch(Bag& bag, std::uint32_t below) {
  dp_.thresholds(who_, below, threshold_);
  const Separators& separators = dp_.separators_[static_cast<std::size_t>(size_)];
  for (int position = 0; position <= dp_.k_; ++position) {
    const auto found =
        separators.find({bag.mask & ~bit(who_[static_cast<std::size_t>(position)]), below});
    if (found == separators.end()) continue;
    // The states of a separator by order, so that each order of the bag finds its own.
    const std::vector<std::uint32_t>& without = dp_.orders_.without(position);
    const States& states = found->second;
    for (std::uint32_t order = 0; order < dp_.orders_.size(); ++order) {
      auto state = std::lower_bound(
          states.begin(), states.end(), without[order],
          [](const State& a, std::uint32_t wanted) { return a.order < wanted; });
      for (; state != states.end() && state->order == without[order]; ++state) {
        offer(order, expand_mask(state->placed, position), state->score);
      }
    }
  }
  States states = collect();
  if (states.empty()) return;
  count(states);
  bag.branches[static_cast<std::size_t>(size_)].push_back({below, std::move(states)});
}

void BoundedDp::Worker::join(const Join& pair) {
  const States& a = *pair.left;
  if (pair.right == nullptr) {
    for (const State& state : a) offer(state.order, state.placed, state.score);
    return;
  }
  const States& b = *pair.right;
  auto first = b.begin();
  for (const State& state : a) {
    while (first != b.end() && first->order < state.order) ++first;
    for (auto other = first; other != b.end() && other->order == state.order; ++other) {
      if ((state.placed & other->placed) != 0) continue;
      offer(state.order, state.placed | other->placed, state.score + other->score);
    }
  }
}

BoundedDp::States BoundedDp::Worker::placed(const Bag& bag, std::uint32_t below,
                                            const States& from) {
  look_at(bag);
  dp_.thresholds(who_, below, threshold_);
  return place(from);
}

// Members of the bag take parents inside it, in the order of their positions.
BoundedDp::States BoundedDp::Worker::place(const States& from) {
  for (const State& state : from) offer(state.order, state.placed, state.score);
  for (int position = 0; position <= dp_.k_; ++position) {
    const std::vector<std::uint32_t>& before = dp_.orders_.before(position);
    const double* local = local_.data() + static_cast<std::size_t>(position) * dp_.n_masks_;
    const std::size_t n_before = touched_.size();
    for (std::size_t i = 0; i < n_before; ++i) {
      const std::uint32_t order = touched_[i] / dp_.n_masks_;
      const std::uint32_t mask = touched_[i] % dp_.n_masks_;
      if ((mask & bit(position)) != 0) continue;
      offer(order, mask | bit(position), grid_[touched_[i]] + local[before[order]]);
    }
  }
  return collect();
}

void BoundedDp::Worker::keep(Bag& bag, std::uint32_t below, States&& states) {
  if (states.empty()) return;
  const States done = place(states);
  n_states += static_cast<std::int64_t>(states.size() + done.size());
  if (size_ == dp_.n_ - dp_.k_ - 1) {
    for (const State& state : done) {
      if (state.placed == dp_.n_masks_ - 1 && state.score > best) {
        best = state.score;
        best_bag = bag.mask;
        best_order = state.order;
      }
    }
  } else {
    forget(bag.mask, below, done);
  }
  count(states);
  bag.joined[static_cast<std::size_t>(size_)].push_back({below, std::move(states)});
}

void BoundedDp::Worker::forget(std::uint32_t bag, std::uint32_t below, const States& from) {
  for (int position = 0; position <= dp_.k_; ++position) {
    const int v = who_[static_cast<std::size_t>(position)];
    States* to = nullptr;
    const std::vector<std::uint32_t>& without = dp_.orders_.without(position);
    std::size_t before = 0;
    for (const State& state : from) {
      if ((state.placed & bit(position)) == 0) continue;
      if (to == nullptr) {
        to = &forgotten[{bag & ~bit(v), below | bit(v)}];
        if (to->capacity() == 0) dp_.n_bytes_ += key_bytes;
        before = to->capacity();
      }
      to->push_back({without[state.order], shrink_mask(state.placed, position), state.score});
    }
    if (to == nullptr) continue;
    if (to->size() == to->capacity() && to->size() > 4096) dp_.compact(*to);
    dp_.n_bytes_ += static_cast<std::int64_t>((to->capacity() - before) * sizeof(State));
  }
}

void BoundedDp::Worker::count(const States& states) {
  dp_.n_bytes_ += static_cast<std::int64_t>(states.capacity() * sizeof(State)) + key_bytes;
  if (dp_.n_bytes_ > dp_.max_bytes_) {
    dp_.out_of_memory_ = true;
    control_.stop = true;
  }
}

}  // namespace twbn
