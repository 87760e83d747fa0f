#include "exact/bounded_dp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "base/numbers.h"
#include "exact/bounded_dp_worker.h"

namespace twbn {

namespace {
constexpr int max_completion_variables = 16;  // 3^16 doubles are 0.34 GiB
}  // namespace

BoundedDp::BoundedDp(const SubsetTables& tables, int k, double lower_bound, std::int64_t max_bytes)
    : tables_(tables),
      n_(tables.n()),
      k_(k),
      lower_bound_(lower_bound),
      max_bytes_(max_bytes),
      orders_(k + 1),
      n_masks_(std::uint32_t{2} << k),
      separators_(static_cast<std::size_t>(n_ - k + 1)),
      best_(minus_infinity) {}

BoundedDp::~BoundedDp() = default;

std::vector<int> BoundedDp::members(std::uint32_t bag) {
  std::vector<int> who;
  for (std::uint32_t rest = bag; rest; rest &= rest - 1) who.push_back(std::countr_zero(rest));
  return who;
}

void BoundedDp::thresholds(const std::vector<int>& who, std::uint32_t below,
                           std::vector<double>& to) const {
  to.assign(n_masks_, minus_infinity);
  if (lower_bound_ == minus_infinity) return;
  // Rounding must not drop the optimum, nor keep what only equals the lower bound.
  const double goal = lower_bound_ + 1e-10 * std::abs(lower_bound_);
  const bool exact = n_ <= max_completion_variables;
  const auto table = exact ? completions(below) : nullptr;
  for (std::uint32_t mask = 0; mask < n_masks_; ++mask) {
    std::uint32_t placed = 0;
    std::size_t index = 0;  // `placed` among the vertices that are not below
    for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
      const int v = who[static_cast<std::size_t>(std::countr_zero(rest))];
      placed |= bit(v);
      index |= std::size_t{1} << std::popcount((bit(v) - 1) & ~below);
    }
    to[mask] = goal - (exact ? (*table)[index] : tables_.to_go(below | placed));
  }
}

// For each subset X of the vertices not below: the best score that the others of these vertices can
// reach in some order after X, with parents among the vertices not below.
std::shared_ptr<const std::vector<double>> BoundedDp::completions(std::uint32_t below) const {
  {
    const std::shared_lock lock(completions_mutex_);
    const auto found = completions_.find(below);
    if (found != completions_.end()) return found->second;
  }
  const auto everything = static_cast<std::uint32_t>((std::uint64_t{1} << n_) - 1);
  const std::uint32_t rest = everything & ~below;
  const std::vector<int> who = members(rest);
  auto made = std::make_shared<std::vector<double>>(std::size_t{1} << who.size(), minus_infinity);
  std::vector<double>& best = *made;
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
  n_bytes_ += static_cast<std::int64_t>(best.size() * sizeof(double));
  const std::unique_lock lock(completions_mutex_);
  return completions_.try_emplace(below, std::move(made)).first->second;
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
}

void BoundedDp::add_bags() {
  const std::uint64_t end = std::uint64_t{1} << n_;
  for (std::uint64_t set = (std::uint64_t{2} << k_) - 1; set < end;) {
    const auto sizes = static_cast<std::size_t>(n_ - k_);
    bags_.push_back({static_cast<std::uint32_t>(set), BySize(sizes), BySize(sizes)});
    const std::uint64_t low = set & (~set + 1);  // Gosper: the next number with as many bits
    const std::uint64_t ripple = set + low;
    set = (((ripple ^ set) >> 2) / low) | ripple;
  }
  for (std::size_t i = 0; i < bags_.size(); ++i) bag_at_[bags_[i].mask] = i;
}

// For every bag the sets below that some separator brings into it, ascending.
std::vector<std::vector<std::uint32_t>> BoundedDp::wanted(const Separators& separators) const {
  std::vector<std::vector<std::uint32_t>> belows(bags_.size());
  for (const auto& [key, states] : separators) {
    const std::uint32_t used = key.bag | key.below;
    for (int w = 0; w < n_; ++w) {
      if ((used >> w & 1) == 0) belows[bag_at_.at(key.bag | bit(w))].push_back(key.below);
    }
  }
  for (auto& list : belows) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return belows;
}

// Bags are independent of each other within a level: all that they need has fewer vertices below.
bool BoundedDp::run_level(int size, int n_jobs, Control& control) {
  Separators& here = separators_[static_cast<std::size_t>(size)];
  std::vector<States*> lists;
  for (auto& [key, states] : here) lists.push_back(&states);
  for_each_unit(
      static_cast<std::int64_t>(lists.size()), n_jobs, control, [] { return 0; },
      [&](std::int64_t i, int) { compact(*lists[static_cast<std::size_t>(i)]); }, [](int) {});
  const auto belows = wanted(here);
  Separators& next = separators_[static_cast<std::size_t>(size) + 1];
  for_each_unit(
      static_cast<std::int64_t>(bags_.size()), n_jobs, control,
      [&] { return std::make_unique<Worker>(*this, size, control); },
      [&](std::int64_t i, std::unique_ptr<Worker>& worker) {
        worker->run(bags_[static_cast<std::size_t>(i)], belows[static_cast<std::size_t>(i)]);
      },
      [&](std::unique_ptr<Worker>& worker) {
        for (auto& [key, states] : worker->forgotten) {
          States& all = next[key];
          if (all.empty()) {
            all = std::move(states);
            continue;
          }
          // The memory of the two lists is released; that of their union is counted instead.
          const std::size_t before = all.capacity() + states.capacity();
          all.insert(all.end(), states.begin(), states.end());
          compact(all);
          all.shrink_to_fit();
          States().swap(states);
          n_bytes_ += (static_cast<std::int64_t>(all.capacity()) - static_cast<std::int64_t>(before)) *
                      static_cast<std::int64_t>(sizeof(State));
        }
        n_states_ += worker->n_states;
        // Ties go to the lowest bag, so that the result does not depend on thread timing.
        if (worker->best > best_ || (worker->best == best_ && worker->best_bag < best_bag_)) {
          best_ = worker->best;
          best_bag_ = worker->best_bag;
          best_order_ = worker->best_order;
        }
      });
  return !control.expired();
}

DpOutcome BoundedDp::run(int n_jobs, Control& control) {
  add_bags();
  for (int size = 0; size < n_ - k_; ++size) {
    const bool done = run_level(size, n_jobs, control);
    if (out_of_memory_ || n_bytes_ > max_bytes_) return DpOutcome::out_of_memory;
    if (!done) return DpOutcome::stopped;
    control.done.store(size + 1);
  }
  return DpOutcome::solved;
}

}  // namespace twbn
