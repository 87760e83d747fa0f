// Traces the states of the dynamic program that lead to the best structure, last to first.
#include <algorithm>
#include <bit>

#include "exact/bounded_dp_worker.h"

namespace twbn {

/// Repeats the sums of `Worker`, so that scores are equal to the last bit.
struct BoundedDp::Tracer {
  const BoundedDp& dp;
  std::vector<std::uint32_t> parents;
  std::vector<std::int32_t> order;

  const Bag& bag(std::uint32_t mask) const { return dp.bags_[dp.bag_at_.at(mask)]; }
  static const States* find(const BySize& sizes, std::uint32_t below) {
    const auto& entries = sizes[static_cast<std::size_t>(std::popcount(below))];
    const auto entry =
        std::lower_bound(entries.begin(), entries.end(), below,
                         [](const Entry& a, std::uint32_t wanted) { return a.below < wanted; });
    return entry != entries.end() && entry->below == below ? &entry->states : nullptr;
  }
  static bool same(const State& a, const State& b) {
    return a.order == b.order && a.placed == b.placed && a.score == b.score;
  }

  void placed(std::uint32_t mask, std::uint32_t below, State state);
  void joined(std::uint32_t mask, std::uint32_t below, State state);
  void branch(std::uint32_t mask, std::uint32_t below, State state);
  void separator(std::uint32_t mask, std::uint32_t below, State state);
};

void BoundedDp::trace(std::vector<std::uint32_t>& parents, std::vector<std::int32_t>& order) const {
  Tracer tracer{*this, std::vector<std::uint32_t>(static_cast<std::size_t>(n_)), {}};
  const auto everything = static_cast<std::uint32_t>((std::uint64_t{1} << n_) - 1);
  tracer.placed(best_bag_, everything & ~best_bag_, {best_order_, n_masks_ - 1, best_});
  for (const int v : members(best_bag_)) tracer.order.push_back(v);
  parents = std::move(tracer.parents);
  order = std::move(tracer.order);
}

void BoundedDp::Tracer::placed(std::uint32_t mask, std::uint32_t below, State state) {
  const std::vector<int> who = members(mask);
  const auto candidates = [&](int position) {  // members before it, as vertices
    std::uint32_t vertices = 0;
    for (std::uint32_t rest = dp.orders_.before(position)[state.order]; rest; rest &= rest - 1) {
      vertices |= std::uint32_t{1} << who[static_cast<std::size_t>(std::countr_zero(rest))];
    }
    return vertices;
  };
  for (const State& from : *find(bag(mask).joined, below)) {
    if (from.order != state.order || (from.placed & ~state.placed) != 0) continue;
    const std::uint32_t added = state.placed & ~from.placed;
    double score = from.score;
    for (std::uint32_t rest = added; rest; rest &= rest - 1) {
      const int position = std::countr_zero(rest);
      score += dp.tables_.best_parents(who[static_cast<std::size_t>(position)], candidates(position));
    }
    if (score != state.score) continue;
    for (std::uint32_t rest = added; rest; rest &= rest - 1) {
      const int position = std::countr_zero(rest);
      parents[static_cast<std::size_t>(who[static_cast<std::size_t>(position)])] =
          candidates(position);
    }
    joined(mask, below, from);
    return;
  }
}

void BoundedDp::Tracer::joined(std::uint32_t mask, std::uint32_t below, State state) {
  if (below == 0) return;
  if (const States* alone = find(bag(mask).branches, below)) {
    for (const State& from : *alone) {
      if (same(from, state)) return branch(mask, below, from);
    }
  }
  for (std::uint32_t right = (below - 1) & below; right; right = (right - 1) & below) {
    const std::uint32_t left = below & ~right;
    const States* a = find(bag(mask).joined, left);
    const States* b = find(bag(mask).branches, right);
    if (a == nullptr || b == nullptr) continue;
    for (const State& first : *a) {
      for (const State& second : *b) {
        if (first.order != state.order || second.order != state.order ||
            (first.placed & second.placed) != 0 || (first.placed | second.placed) != state.placed ||
            first.score + second.score != state.score) {
          continue;
        }
        joined(mask, left, first);
        branch(mask, right, second);
        return;
      }
    }
  }
}

void BoundedDp::Tracer::branch(std::uint32_t mask, std::uint32_t below, State state) {
  const std::vector<int> who = members(mask);
  const Separators& separators = dp.separators_[static_cast<std::size_t>(std::popcount(below))];
  for (int position = 0; position <= dp.k_; ++position) {
    if ((state.placed >> position & 1) != 0) continue;  // introduced here, so not placed
    const std::uint32_t rest =
        mask & ~(std::uint32_t{1} << who[static_cast<std::size_t>(position)]);
    const auto found = separators.find({rest, below});
    if (found == separators.end()) continue;
    for (const State& from : found->second) {
      if (from.order == dp.orders_.without(position)[state.order] &&
          expand_mask(from.placed, position) == state.placed && from.score == state.score) {
        return separator(rest, below, from);
      }
    }
  }
}

void BoundedDp::Tracer::separator(std::uint32_t mask, std::uint32_t below, State state) {
  Control control;
  Worker worker(const_cast<BoundedDp&>(dp), std::popcount(below) - 1, control);
  for (std::uint32_t rest = below; rest; rest &= rest - 1) {
    const int v = std::countr_zero(rest);
    const std::uint32_t whole = mask | (std::uint32_t{1} << v);
    const std::uint32_t under = below & ~(std::uint32_t{1} << v);
    const States* states = find(bag(whole).joined, under);
    if (states == nullptr) continue;
    const int position = std::popcount(whole & ((std::uint32_t{1} << v) - 1));
    for (const State& from : worker.placed(bag(whole), under, *states)) {
      if ((from.placed >> position & 1) != 0 &&
          dp.orders_.without(position)[from.order] == state.order &&
          shrink_mask(from.placed, position) == state.placed && from.score == state.score) {
        placed(whole, under, from);
        order.push_back(v);
        return;
      }
    }
  }
}

}  // namespace twbn
