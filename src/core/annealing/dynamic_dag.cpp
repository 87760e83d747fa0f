#include "annealing/dynamic_dag.h"

#include <algorithm>
#include <numeric>

namespace twbn {

DynamicDag::DynamicDag(int n, int max_parents)
    : stride_(static_cast<std::size_t>(std::max(max_parents, 1))),
      parents_(static_cast<std::size_t>(n) * stride_),
      n_parents_(static_cast<std::size_t>(n)),
      at_(static_cast<std::size_t>(n) * stride_),
      children_(static_cast<std::size_t>(n)),
      place_(static_cast<std::size_t>(n)),
      seen_(static_cast<std::size_t>(n)) {
  std::iota(place_.begin(), place_.end(), 0);
}

bool DynamicDag::set_parents(std::int32_t child, std::span<const std::int32_t> parents) {
  const bool acyclic = collect_ancestors(child, parents);
  if (acyclic && !before_.empty()) reorder(child);
  for (const std::int32_t v : before_) seen_[static_cast<std::size_t>(v)] = 0;
  if (!acyclic) return false;
  unlink(child);
  const std::size_t first = static_cast<std::size_t>(child) * stride_;
  for (std::size_t slot = 0; slot < parents.size(); ++slot) {
    auto& siblings = children_[static_cast<std::size_t>(parents[slot])];
    parents_[first + slot] = parents[slot];
    at_[first + slot] = static_cast<std::int32_t>(siblings.size());
    siblings.push_back({child, static_cast<std::int32_t>(slot)});
  }
  n_parents_[static_cast<std::size_t>(child)] = static_cast<std::int32_t>(parents.size());
  return true;
}

// Collects the new parents that come after the child in the order, and those of their ancestors
// that also come after it; false if the child is among them.
bool DynamicDag::collect_ancestors(std::int32_t child, std::span<const std::int32_t> parents) {
  before_.clear();
  const auto meet = [&](std::int32_t v) {
    if (place(v) < place(child) || seen_[static_cast<std::size_t>(v)]) return true;
    if (v == child) return false;
    seen_[static_cast<std::size_t>(v)] = 1;
    before_.push_back(v);
    return true;
  };
  for (const std::int32_t parent : parents) {
    if (!meet(parent)) return false;
  }
  for (std::size_t i = 0; i < before_.size(); ++i) {
    for (const std::int32_t parent : this->parents(before_[i])) {
      if (!meet(parent)) return false;
    }
  }
  return true;
}

void DynamicDag::ancestors_after(std::int32_t v, std::span<const std::int32_t> vertices,
                                 std::vector<std::int32_t>& found) {
  found.clear();
  const auto meet = [&](std::int32_t u) {
    if (place(u) <= place(v) || seen_[static_cast<std::size_t>(u)]) return;
    seen_[static_cast<std::size_t>(u)] = 1;
    found.push_back(u);
  };
  for (const std::int32_t u : vertices) meet(u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const std::int32_t parent : parents(found[i])) meet(parent);
  }
  for (const std::int32_t u : found) seen_[static_cast<std::size_t>(u)] = 0;
}

// Reassigns the places of the vertices that must come before the child and of those already after
// it, so that together they occupy the same places as before.
void DynamicDag::reorder(std::int32_t child) {
  std::int32_t last = 0;
  for (const std::int32_t v : before_) last = std::max(last, place(v));
  after_.assign(1, child);
  seen_[static_cast<std::size_t>(child)] = 1;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    for (const Child& next : children_[static_cast<std::size_t>(after_[i])]) {
      if (place(next.vertex) > last || seen_[static_cast<std::size_t>(next.vertex)]) continue;
      seen_[static_cast<std::size_t>(next.vertex)] = 1;
      after_.push_back(next.vertex);
    }
  }
  for (const std::int32_t v : after_) seen_[static_cast<std::size_t>(v)] = 0;
  const auto earlier = [this](std::int32_t a, std::int32_t b) { return place(a) < place(b); };
  std::sort(before_.begin(), before_.end(), earlier);
  std::sort(after_.begin(), after_.end(), earlier);
  places_.clear();
  for (const auto* group : {&before_, &after_}) {
    for (const std::int32_t v : *group) places_.push_back(place(v));
  }
  std::sort(places_.begin(), places_.end());
  std::size_t next = 0;
  for (const auto* group : {&before_, &after_}) {
    for (const std::int32_t v : *group) place_[static_cast<std::size_t>(v)] = places_[next++];
  }
}

void DynamicDag::unlink(std::int32_t child) {
  const std::size_t first = static_cast<std::size_t>(child) * stride_;
  const auto n = static_cast<std::size_t>(n_parents_[static_cast<std::size_t>(child)]);
  for (std::size_t slot = 0; slot < n; ++slot) {
    auto& siblings = children_[static_cast<std::size_t>(parents_[first + slot])];
    const auto hole = static_cast<std::size_t>(at_[first + slot]);
    siblings[hole] = siblings.back();
    const Child& moved = siblings[hole];
    at_[static_cast<std::size_t>(moved.vertex) * stride_ + static_cast<std::size_t>(moved.slot)] =
        static_cast<std::int32_t>(hole);
    siblings.pop_back();
  }
  n_parents_[static_cast<std::size_t>(child)] = 0;
}

}  // namespace twbn
