// The end of a chain: windows of its best structure are optimised exactly.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "annealing/chain.h"
#include "base/numbers.h"

namespace twbn {

namespace {
constexpr int idle_passes = 3;  // that bring nothing, before giving up
constexpr int max_passes = 8;

}  // namespace

void AnnealChain::improve_windows(std::int64_t max_windows, Control& control) {
  if (!windows_) return;
  restore_best();
  const auto n = static_cast<std::size_t>(n_);
  const std::size_t size = std::min<std::size_t>(WindowSearch::max_size, n);
  const std::size_t step = std::max<std::size_t>(size / 2, 1);
  for (int idle = 0, pass = 0; idle < idle_passes && pass < max_passes; ++pass) {
    draw_order();
    bool improved = false;
    for (std::size_t first = 0; first == 0 || first + step < n; first += step) {
      if (max_windows-- == 0 || control.expired()) return;
      improved = improve_window(first, std::min(size, n - first)) || improved;
    }
    idle = improved ? 0 : idle + 1;
  }
}

// Parents before children, in an order that keeps relatives together.
void AnnealChain::draw_order() {
  const auto n = static_cast<std::size_t>(n_);
  order_.clear();
  roots_.resize(n);
  std::iota(roots_.begin(), roots_.end(), 0);
  place_.assign(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    std::swap(roots_[i], roots_[i + random_.below(static_cast<std::uint32_t>(n - i))]);
    stack_.assign(1, roots_[i]);
    while (!stack_.empty()) {
      const std::int32_t v = stack_.back();
      if (place_[at(v)] >= 0) {
        stack_.pop_back();
        continue;
      }
      const auto parents = dag_.parents(v);
      const std::size_t before = stack_.size();
      for (const std::int32_t u : parents) {
        if (place_[at(u)] < 0) stack_.push_back(u);
      }
      if (stack_.size() > before + 1) {
        const auto n_new = static_cast<std::uint32_t>(stack_.size() - before);
        std::swap(stack_.back(), stack_[before + random_.below(n_new)]);
      }
      if (stack_.size() > before) continue;
      stack_.pop_back();
      place_[at(v)] = static_cast<std::int32_t>(order_.size());
      order_.push_back(v);
    }
  }
}

// First with all sets; if the result is too wide, with the sets inside existing bags only.
bool AnnealChain::improve_window(std::size_t first, std::size_t size) {
  const std::span<std::int32_t> window(order_.data() + first, size);
  double now = 0;
  for (const std::int32_t v : window) now += local_[at(v)];
  const auto is_before = [&](std::int32_t u) {
    return place_[at(u)] < static_cast<std::int32_t>(first);
  };
  const auto any = [](std::int32_t, std::span<const std::int32_t>) { return true; };
  const auto covered = [&](std::int32_t v, std::span<const std::int32_t> set) {
    pairs_.clear();
    collect_pairs(v, set);
    return pairs_.empty();
  };
  for (int attempt = 0; attempt < 2; ++attempt) {
    const double found = attempt == 0 ? windows_->solve(window, is_before, any)
                                      : windows_->solve(window, is_before, covered);
    if (found <= now + 1e-9 * std::abs(now)) return false;
    n_families_ = 0;
    const ScoreIndex& index = *scores_.index();
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t set = windows_->sets()[i];
      add_family(windows_->order()[i], index.parents(set),
                 index.scores()[static_cast<std::size_t>(set)]);
    }
    exchange_families();
    if (!admit_families()) continue;
    note_best();
    std::copy(windows_->order().begin(), windows_->order().end(), window.begin());
    for (std::size_t i = first; i < first + size; ++i) {
      place_[at(order_[i])] = static_cast<std::int32_t>(i);
    }
    return true;
  }
  return false;
}

void AnnealChain::restore_best() {
  for (const std::int32_t v : changed_) {
    const auto parents = dag_.parents(v);
    rest_.assign(parents.begin(), parents.end());
    moral_.remove_family(v, rest_);
    dag_.set_parents(v, {});
  }
  for (const std::int32_t v : changed_) {
    const Set& parents = best_parents_[at(v)];
    dag_.set_parents(v, parents);
    moral_.add_family(v, parents);
    local_[at(v)] = scores_.score(v, parents);
    is_changed_[at(v)] = 0;
  }
  changed_.clear();
  score_ = best_score_;
  forest_.build(EliminationForest::order_of(best_forest_));
  forest_.copy_changes(best_forest_);
}

}  // namespace twbn
