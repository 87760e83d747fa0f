// A change that closes a cycle: other parents for the children that lead back.
#include <algorithm>
#include <cmath>

#include "annealing/chain.h"
#include "base/numbers.h"

namespace twbn {

namespace {
constexpr std::size_t max_displaced = 8;        // children
// Parent sets of each of them: long lists are searched at their head only, as a walk through all
// costs more than it finds.
constexpr std::ptrdiff_t looked_at_of_few = 2000, looked_at_of_many = 200, few_sets = 10'000;

}  // namespace

// The new parents descend from the child. Those of its children that lead to them get the best
// parents that may precede the child, and the child moves behind them in the order.
bool AnnealChain::change_with_displaced(std::int32_t child, const Set& set, double score) {
  if (scores_.index() == nullptr) return false;
  dag_.ancestors_after(child, set, between_);
  for (const std::int32_t v : between_) is_between_[at(v)] = 1;
  n_families_ = 0;
  const bool found = find_displaced(child, score - local_[at(child)]);
  for (const std::int32_t v : between_) is_between_[at(v)] = 0;
  if (!found) return false;
  add_family(child, set, score);
  exchange_families();
  return admit_families();
}

// The gain of the child minus the losses of the displaced children must pass the Metropolis rule.
bool AnnealChain::find_displaced(std::int32_t child, double gain) {
  const ScoreIndex& index = *scores_.index();
  const double least = temperature_ * std::log(random_.uniform() + 1e-300);
  for (const std::int32_t v : between_) {
    const auto parents = dag_.parents(v);
    if (std::find(parents.begin(), parents.end(), child) == parents.end()) continue;
    if (n_families_ == max_displaced) return false;
    const auto may_precede = [&](std::int32_t u) {
      return u != child && dag_.before(u, v) && (dag_.before(u, child) || is_between_[at(u)]);
    };
    auto set = index.variable_offsets()[at(v)];
    const auto end = index.variable_offsets()[at(v) + 1];
    const auto last = std::min(end, set + (end - set > few_sets ? looked_at_of_many : looked_at_of_few));
    for (;; ++set) {
      if (set == last) return false;
      const double loss = index.scores()[static_cast<std::size_t>(set)] - local_[at(v)];
      if (gain + loss <= least) return false;
      const auto members = index.parents(set);
      if (members.size() <= max_parents_ &&
          std::all_of(members.begin(), members.end(), may_precede)) {
        gain += loss;
        break;
      }
    }
    add_family(v, index.parents(set), index.scores()[static_cast<std::size_t>(set)]);
  }
  return true;
}

void AnnealChain::add_family(std::int32_t v, std::span<const std::int32_t> set, double score) {
  Family& family = families_[n_families_++];
  family.vertex = v;
  family.score = score;
  family.parents.assign(set.begin(), set.end());
}

void AnnealChain::exchange_families() {
  for (std::size_t i = 0; i < n_families_; ++i) {
    auto& [v, score, parents] = families_[i];
    const auto there = dag_.parents(v);
    rest_.assign(there.begin(), there.end());
    moral_.remove_family(v, rest_);
    moral_.add_family(v, parents);
    dag_.set_parents(v, {});
    parents.swap(rest_);
    next_[i].swap(rest_);
  }
  for (std::size_t i = 0; i < n_families_; ++i) {
    dag_.set_parents(families_[i].vertex, next_[i]);
    std::swap(local_[at(families_[i].vertex)], families_[i].score);
  }
}

// The new families stay if together they are narrow enough and keep the relations.
bool AnnealChain::admit_families() {
  pairs_.clear();
  for (std::size_t i = 0; i < n_families_; ++i) {
    collect_pairs(families_[i].vertex, dag_.parents(families_[i].vertex));
  }
  const bool admitted = keeps_relations() && (pairs_.empty() || forest_.admit(pairs_, random_));
  if (!admitted) {
    exchange_families();
    return false;
  }
  for (std::size_t i = 0; i < n_families_; ++i) {
    const double score = local_[at(families_[i].vertex)];
    local_[at(families_[i].vertex)] = families_[i].score;
    accept(families_[i].vertex, score);
  }
  return true;
}

}  // namespace twbn
