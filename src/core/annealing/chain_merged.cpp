// Taking over from another structure the families that gain.
#include <algorithm>
#include <numeric>

#include "annealing/chain.h"
#include "base/numbers.h"

namespace twbn {

// Families that differ are grouped where one is a parent of the other, here or there: such changes
// were made for each other. A group that gains is taken as a whole; where that is cyclic or too
// wide, its families are tried one at a time, as changes that may cost an arc nearby.
void AnnealChain::take_over(const ParentLists& other, const ParentLists& before,
                            double temperature) {
  temperature_ = temperature;
  std::vector<std::int32_t> differing;
  std::vector<std::int32_t> group(at(n_), -1);  // by vertex: one of its group, or -1
  for (std::int32_t v = 0; v < n_; ++v) {
    const auto here = dag_.parents(v);
    const auto& there = other[at(v)];
    if (there != before[at(v)] &&
        !std::equal(here.begin(), here.end(), there.begin(), there.end())) {
      differing.push_back(v);
      group[at(v)] = v;
    }
  }
  const auto first_of = [&](std::int32_t v) {
    while (group[at(v)] != v) v = group[at(v)] = group[at(group[at(v)])];
    return v;
  };
  for (const std::int32_t v : differing) {
    for (const auto& parents : {dag_.parents(v), std::span<const std::int32_t>(other[at(v)])}) {
      for (const std::int32_t u : parents) {
        if (group[at(u)] >= 0) group[at(first_of(u))] = first_of(v);
      }
    }
  }
  std::stable_sort(differing.begin(), differing.end(), [&](std::int32_t a, std::int32_t b) {
    return first_of(a) < first_of(b);
  });
  for (std::size_t first = 0, last = 0; first < differing.size(); first = last) {
    while (last < differing.size() && first_of(differing[last]) == first_of(differing[first])) ++last;
    take_group({differing.data() + first, last - first}, other);
  }
}

void AnnealChain::take_group(std::span<const std::int32_t> members, const ParentLists& other) {
  if (families_.size() < members.size()) {
    families_.resize(members.size());
    next_.resize(members.size());
  }
  n_families_ = 0;
  double gain = 0;
  for (const std::int32_t v : members) {
    const double score = scores_.score(v, other[at(v)]);
    if (score == minus_infinity || other[at(v)].size() > max_parents_) return;
    gain += score - local_[at(v)];
    add_family(v, other[at(v)], score);
  }
  if (gain > 0 && exchange_if_acyclic() && admit_families()) {
    note_best();
    return;
  }
  // By what each gains, the most first.
  std::vector<std::pair<double, std::int32_t>> alone;
  for (const std::int32_t v : members) {
    alone.emplace_back(local_[at(v)] - scores_.score(v, other[at(v)]), v);
  }
  std::sort(alone.begin(), alone.end());
  for (const auto& [loss, v] : alone) {
    if (loss >= 0) break;
    set_ = other[at(v)];
    change(v, set_, scores_.score(v, set_));
  }
}

// As `exchange_families`, unless the new families close a cycle.
bool AnnealChain::exchange_if_acyclic() {
  for (std::size_t i = 0; i < n_families_; ++i) {
    const auto parents = dag_.parents(families_[i].vertex);
    next_[i].assign(parents.begin(), parents.end());
  }
  for (std::size_t i = 0; i < n_families_; ++i) dag_.set_parents(families_[i].vertex, {});
  bool acyclic = true;
  for (std::size_t i = 0; i < n_families_ && acyclic; ++i) {
    acyclic = dag_.set_parents(families_[i].vertex, families_[i].parents);
  }
  for (std::size_t i = 0; i < n_families_; ++i) dag_.set_parents(families_[i].vertex, {});
  for (std::size_t i = 0; i < n_families_; ++i) dag_.set_parents(families_[i].vertex, next_[i]);
  if (acyclic) exchange_families();
  return acyclic;
}

}  // namespace twbn
