#include "bounded_dp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace twbn {

namespace {
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr int max_completion_variables = 16;  // 3^16 doubles are 0.34 GiB

/// Visit the subsets of {0 .. n - 1} of one size.
template <class Visit>
void for_each_subset(int n, int size, Visit visit) {
  const std::uint64_t end = std::uint64_t{1} << n;
  for (std::uint64_t set = (std::uint64_t{1} << size) - 1; set < end;) {
    visit(static_cast<std::uint32_t>(set));
    const std::uint64_t low = set & (~set + 1);  // Gosper: the next number with as many bits
    const std::uint64_t ripple = set + low;
    set = (((ripple ^ set) >> 2) / low) | ripple;
  }
}

std::uint32_t bit(int v) { return std::uint32_t{1} << v; }

}  // namespace

BoundedDp::BoundedDp(const SubsetTables& tables, int k, double lower_bound, std::int64_t max_bytes)
    : tables_(tables),
      n_(tables.n()),
      k_(k),
      lower_bound_(lower_bound),
      max_bytes_(max_bytes),
      orders_(k + 1),
      n_masks_(std::uint32_t{2} << k),
      best_(minus_infinity) {
  grid_.scores.assign(orders_.size() * n_masks_, minus_infinity);
}

std::vector<int> BoundedDp::members(std::uint32_t bag) const {
  std::vector<int> who;
  for (std::uint32_t rest = bag; rest; rest &= rest - 1) who.push_back(std::countr_zero(rest));
  return who;
}

// A mask of positions in a bag as a mask of vertices.
std::uint32_t BoundedDp::spread(const std::vector<int>& who, std::uint32_t mask) const {
  std::uint32_t vertices = 0;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    vertices |= bit(who[static_cast<std::size_t>(std::countr_zero(rest))]);
  }
  return vertices;
}

bool BoundedDp::promising(double score, std::uint32_t below, std::uint32_t placed) const {
  if (lower_bound_ == minus_infinity || score == minus_infinity) return score > minus_infinity;
  double rest = 0;
  if (n_ <= max_completion_variables) {
    std::size_t index = 0;  // `placed` among the vertices that are not below
    for (std::uint32_t left = placed; left; left &= left - 1) {
      const std::uint32_t lower = (left & -left) - 1;
      index |= std::size_t{1} << std::popcount(lower & ~below);
    }
    rest = completions(below)[index];
  } else {
    rest = tables_.to_go(below | placed);
  }
  // Rounding must not drop the optimum, nor keep what only equals the lower bound.
  return score + rest > lower_bound_ + 1e-10 * std::abs(lower_bound_);
}

// By subset X of the vertices not below: the best that the others of them can reach in some order
// after X, with parents among those not below.
const std::vector<double>& BoundedDp::completions(std::uint32_t below) const {
  const auto [found, added] = completions_.try_emplace(below);
  std::vector<double>& best = found->second;
  if (!added) return best;
  const auto everything = static_cast<std::uint32_t>((std::uint64_t{1} << n_) - 1);
  const std::uint32_t rest = everything & ~below;
  const std::vector<int> who = members(rest);
  best.assign(std::size_t{1} << who.size(), minus_infinity);
  best.back() = 0.0;
  std::uint32_t subset = rest;
  for (std::size_t index = best.size() - 1; index-- > 0;) {
    subset = (subset - 1) & rest;  // subsets of `rest` in step with their numbers
    double most = minus_infinity;
    for (std::size_t i = 0; i < who.size(); ++i) {
      if ((index >> i & 1) != 0) continue;
      most = std::max(most, tables_.best_parents(who[i], subset) + best[index | std::size_t{1} << i]);
    }
    best[index] = most;
  }
  return best;
}

void BoundedDp::offer(Grid& grid, std::uint32_t order, std::uint32_t placed, double score) const {
  const std::uint32_t place = order * n_masks_ + placed;
  double& known = grid.scores[place];
  if (known == minus_infinity) grid.touched.push_back(place);
  known = std::max(known, score);
}

// Takes the promising states out of the grid and clears it.
BoundedDp::States BoundedDp::collect(Grid& grid, const std::vector<int>& who,
                                     std::uint32_t below) const {
  States states;
  std::sort(grid.touched.begin(), grid.touched.end());
  for (const std::uint32_t place : grid.touched) {
    const double score = grid.scores[place];
    grid.scores[place] = minus_infinity;
    const std::uint32_t placed = place % n_masks_;
    if (promising(score, below, spread(who, placed))) {
      states.push_back({place / n_masks_, placed, score});
    }
  }
  grid.touched.clear();
  return states;
}

double BoundedDp::local(const std::vector<int>& who, int position, std::uint32_t order) const {
  return tables_.best_parents(who[static_cast<std::size_t>(position)],
                              spread(who, orders_.before(position)[order]));
}

// States of a bag that come from one separator: a vertex is introduced at every place.
BoundedDp::States BoundedDp::branch(std::uint32_t bag, std::uint32_t below) const {
  const std::vector<int> who = members(bag);
  for (int position = 0; position <= k_; ++position) {
    const auto found =
        separators_.find({bag & ~bit(who[static_cast<std::size_t>(position)]), below});
    if (found == separators_.end()) continue;
    // The states of a separator by order, so that each order of the bag finds its own.
    const std::vector<std::uint32_t>& without = orders_.without(position);
    const States& states = found->second;
    for (std::uint32_t order = 0; order < orders_.size(); ++order) {
      const auto first = std::lower_bound(
          states.begin(), states.end(), without[order],
          [](const State& state, std::uint32_t wanted) { return state.order < wanted; });
      for (auto state = first; state != states.end() && state->order == without[order]; ++state) {
        offer(grid_, order, expand_mask(state->placed, position), state->score);
      }
    }
  }
  return collect(grid_, who, below);
}

void BoundedDp::offer_joins(Grid& grid, std::uint32_t bag, std::uint32_t left,
                            std::uint32_t right) const {
  const States& a = joined_.at({bag, left});
  const States& b = branches_.at({bag, right});
  auto first = b.begin();
  for (auto state = a.begin(); state != a.end(); ++state) {
    while (first != b.end() && first->order < state->order) ++first;
    for (auto other = first; other != b.end() && other->order == state->order; ++other) {
      if ((state->placed & other->placed) != 0) continue;
      offer(grid, state->order, state->placed | other->placed, state->score + other->score);
    }
  }
}

// Members of the bag take parents inside it, in the order of their positions.
BoundedDp::States BoundedDp::placed(std::uint32_t bag, std::uint32_t below,
                                    const States& from) const {
  const std::vector<int> who = members(bag);
  for (const State& state : from) offer(grid_, state.order, state.placed, state.score);
  for (int position = 0; position <= k_; ++position) {
    const std::size_t n_before = grid_.touched.size();
    for (std::size_t i = 0; i < n_before; ++i) {
      const std::uint32_t place = grid_.touched[i];
      const std::uint32_t order = place / n_masks_;
      const std::uint32_t mask = place % n_masks_;
      if ((mask & bit(position)) != 0) continue;
      const double score = grid_.scores[place] + local(who, position, order);
      if (promising(score, below, spread(who, mask | bit(position)))) {
        offer(grid_, order, mask | bit(position), score);
      }
    }
  }
  return collect(grid_, who, below);
}

void BoundedDp::forget(std::uint32_t bag, std::uint32_t below, const States& from) {
  const std::vector<int> who = members(bag);
  for (int position = 0; position <= k_; ++position) {
    const int v = who[static_cast<std::size_t>(position)];
    States* to = nullptr;
    for (const State& state : from) {
      if ((state.placed & bit(position)) == 0) continue;
      if (to == nullptr) to = &separators_[{bag & ~bit(v), below | bit(v)}];
      to->push_back({orders_.without(position)[state.order], shrink_mask(state.placed, position),
                     state.score});
    }
    if (to != nullptr && to->size() > 4096) compact(*to);
  }
}

// Sorts by order and mask, and keeps the best of each.
void BoundedDp::compact(States& states) const {
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) {
    if (a.order != b.order) return a.order < b.order;
    if (a.placed != b.placed) return a.placed < b.placed;
    return a.score > b.score;
  });
  states.erase(std::unique(states.begin(), states.end(),
                           [](const State& a, const State& b) {
                             return a.order == b.order && a.placed == b.placed;
                           }),
               states.end());
  states.shrink_to_fit();
}

void BoundedDp::keep(std::uint32_t bag, std::uint32_t below, States&& states) {
  if (states.empty()) return;
  const int size = std::popcount(below);
  auto& sizes = joined_sizes_[bag];
  sizes.resize(static_cast<std::size_t>(n_ - k_));
  sizes[static_cast<std::size_t>(size)].push_back(below);
  const States done = placed(bag, below, states);
  n_states_ += static_cast<std::int64_t>(states.size() + done.size());
  if (size == n_ - k_ - 1) {
    for (const State& state : done) {
      if (state.placed == n_masks_ - 1 && state.score > best_) {
        best_ = state.score;
        best_bag_ = bag;
        best_order_ = state.order;
      }
    }
  } else {
    forget(bag, below, done);
  }
  joined_.emplace(Key{bag, below}, std::move(states));
}

bool BoundedDp::run_level(int size, Control& control) {
  if (size == 0) {
    States start;
    for (std::uint32_t order = 0; order < orders_.size(); ++order) start.push_back({order, 0, 0.0});
    bool going = true;
    for_each_subset(n_, k_ + 1, [&](std::uint32_t bag) {
      going = going && !control.expired();
      if (going) keep(bag, 0, States(start));
    });
    return going;
  }
  // Which bags get which sets below them at this size: from separators, and from joins.
  std::map<std::uint32_t, std::set<std::uint32_t>> wanted;
  for (auto& [key, states] : separators_) {
    if (std::popcount(key.below) != size) continue;
    compact(states);
    const std::uint32_t used = key.bag | key.below;
    for (int w = 0; w < n_; ++w) {
      if ((used >> w & 1) == 0) wanted[key.bag | bit(w)].insert(key.below);
    }
  }
  for (const auto& [bag, belows] : wanted) {
    for (const std::uint32_t below : belows) {
      if (control.expired()) return false;
      States states = branch(bag, below);
      if (states.empty()) continue;
      auto& sizes = branch_sizes_[bag];
      sizes.resize(static_cast<std::size_t>(n_ - k_));
      sizes[static_cast<std::size_t>(size)].push_back(below);
      branches_.emplace(Key{bag, below}, std::move(states));
    }
  }
  std::vector<std::uint32_t> bags;
  for (const auto& [bag, sizes] : joined_sizes_) bags.push_back(bag);
  std::sort(bags.begin(), bags.end());
  for (const std::uint32_t bag : bags) {
    const auto branches = branch_sizes_.find(bag);
    if (branches == branch_sizes_.end()) continue;
    // A union of branches is built once: the joined part holds its smallest vertex.
    std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> unions;
    for (const std::uint32_t below : branches->second[static_cast<std::size_t>(size)]) unions[below];
    const BySize& joined = joined_sizes_[bag];
    for (int left = 1; left < size; ++left) {
      for (const std::uint32_t a : joined[static_cast<std::size_t>(left)]) {
        for (const std::uint32_t b : branches->second[static_cast<std::size_t>(size - left)]) {
          if ((a & b) == 0 && std::countr_zero(a) < std::countr_zero(b)) {
            unions[a | b].emplace_back(a, b);
          }
        }
      }
    }
    for (const auto& [below, pairs] : unions) {
      if (control.expired()) return false;
      const auto alone = branches_.find({bag, below});
      if (alone != branches_.end()) {
        for (const State& state : alone->second) {
          offer(grid_, state.order, state.placed, state.score);
        }
      }
      for (const auto& [a, b] : pairs) offer_joins(grid_, bag, a, b);
      keep(bag, below, collect(grid_, members(bag), below));
    }
  }
  return true;
}

DpOutcome BoundedDp::run(Control& control) {
  for (int size = 0; size < n_ - k_; ++size) {
    if (!run_level(size, control)) return DpOutcome::stopped;
    control.done.store(size + 1);
    std::int64_t bytes = 0;
    for (const Table* table : {&separators_, &branches_, &joined_}) {
      for (const auto& [key, states] : *table) {
        bytes += static_cast<std::int64_t>(states.capacity() * sizeof(State)) + 96;
      }
    }
    if (bytes > max_bytes_) return DpOutcome::out_of_memory;
  }
  return DpOutcome::solved;
}

void BoundedDp::trace(std::vector<std::uint32_t>& parents, std::vector<std::int32_t>& order) const {
  traced_parents_.assign(static_cast<std::size_t>(n_), 0);
  traced_order_.clear();
  const auto everything = static_cast<std::uint32_t>((std::uint64_t{1} << n_) - 1);
  trace_placed(best_bag_, everything & ~best_bag_, {best_order_, n_masks_ - 1, best_});
  for (const int v : members(best_bag_)) traced_order_.push_back(v);
  parents = traced_parents_;
  order = traced_order_;
}

// The same sums as in `placed`, so that scores are equal to the last bit.
void BoundedDp::trace_placed(std::uint32_t bag, std::uint32_t below, State state) const {
  const std::vector<int> who = members(bag);
  for (const State& from : joined_.at({bag, below})) {
    if (from.order != state.order || (from.placed & ~state.placed) != 0) continue;
    double score = from.score;
    for (std::uint32_t rest = state.placed & ~from.placed; rest; rest &= rest - 1) {
      score += local(who, std::countr_zero(rest), state.order);
    }
    if (score != state.score) continue;
    for (std::uint32_t rest = state.placed & ~from.placed; rest; rest &= rest - 1) {
      const int position = std::countr_zero(rest);
      traced_parents_[static_cast<std::size_t>(who[static_cast<std::size_t>(position)])] =
          spread(who, orders_.before(position)[state.order]);
    }
    trace_joined(bag, below, from);
    return;
  }
}

void BoundedDp::trace_joined(std::uint32_t bag, std::uint32_t below, State state) const {
  if (below == 0) return;
  const auto same = [&](const State& other, const State& wanted) {
    return other.order == wanted.order && other.placed == wanted.placed &&
           other.score == wanted.score;
  };
  const auto alone = branches_.find({bag, below});
  if (alone != branches_.end()) {
    for (const State& from : alone->second) {
      if (!same(from, state)) continue;
      trace_branch(bag, below, from);
      return;
    }
  }
  for (std::uint32_t right = (below - 1) & below; right; right = (right - 1) & below) {
    const std::uint32_t left = below & ~right;
    const auto a = joined_.find({bag, left});
    const auto b = branches_.find({bag, right});
    if (a == joined_.end() || b == branches_.end()) continue;
    for (const State& first : a->second) {
      for (const State& second : b->second) {
        if (first.order != state.order || second.order != state.order ||
            (first.placed & second.placed) != 0 || (first.placed | second.placed) != state.placed ||
            first.score + second.score != state.score) {
          continue;
        }
        trace_joined(bag, left, first);
        trace_branch(bag, right, second);
        return;
      }
    }
  }
}

void BoundedDp::trace_branch(std::uint32_t bag, std::uint32_t below, State state) const {
  const std::vector<int> who = members(bag);
  for (int position = 0; position <= k_; ++position) {
    if ((state.placed >> position & 1) != 0) continue;  // introduced here, so not placed
    const std::uint32_t separator = bag & ~bit(who[static_cast<std::size_t>(position)]);
    const auto found = separators_.find({separator, below});
    if (found == separators_.end()) continue;
    for (const State& from : found->second) {
      if (from.order == orders_.without(position)[state.order] &&
          expand_mask(from.placed, position) == state.placed && from.score == state.score) {
        trace_separator(separator, below, from);
        return;
      }
    }
  }
}

void BoundedDp::trace_separator(std::uint32_t separator, std::uint32_t below, State state) const {
  for (std::uint32_t rest = below; rest; rest &= rest - 1) {
    const int v = std::countr_zero(rest);
    const std::uint32_t bag = separator | bit(v);
    const auto found = joined_.find({bag, below & ~bit(v)});
    if (found == joined_.end()) continue;
    const int position = std::popcount(bag & (bit(v) - 1));
    for (const State& from : placed(bag, below & ~bit(v), found->second)) {
      if ((from.placed >> position & 1) != 0 &&
          orders_.without(position)[from.order] == state.order &&
          shrink_mask(from.placed, position) == state.placed && from.score == state.score) {
        trace_placed(bag, below & ~bit(v), from);
        traced_order_.push_back(v);
        return;
      }
    }
  }
}

}  // namespace twbn
