#include "scores/family_list.h"

#include <algorithm>

#include "base/control.h"
#include "scores/parent_sets.h"

namespace twbn {

void FamilyList::add(double score, std::span<const std::int32_t> parents) {
  if (by_size_.size() <= parents.size()) by_size_.resize(parents.size() + 1);
  BySize& list = by_size_[parents.size()];
  list.scores.push_back(score);
  for (const std::int32_t parent : parents) {
    list.parents.push_back(static_cast<std::uint16_t>(parent));
  }
}

void FamilyList::append(const FamilyList& other) {
  if (by_size_.size() < other.by_size_.size()) by_size_.resize(other.by_size_.size());
  for (std::size_t size = 0; size < other.by_size_.size(); ++size) {
    const BySize& from = other.by_size_[size];
    BySize& to = by_size_[size];
    to.scores.insert(to.scores.end(), from.scores.begin(), from.scores.end());
    to.parents.insert(to.parents.end(), from.parents.begin(), from.parents.end());
  }
}

void FamilyList::drop_size(int size) {
  if (by_size_.size() > static_cast<std::size_t>(size)) {
    by_size_[static_cast<std::size_t>(size)] = {};
  }
}

std::size_t FamilyList::n_sets() const {
  std::size_t n = 0;
  for (const BySize& list : by_size_) n += list.scores.size();
  return n;
}

namespace {

struct Entry {
  double score;
  std::uint32_t index;  // in the list of its size
  std::uint16_t size;
};

void sort_child(const FamilyList& list, std::size_t first_set, std::size_t first_parent,
                std::vector<Entry>& entries, ScoredSets& result) {
  entries.clear();
  entries.reserve(list.n_sets());
  for (std::size_t size = 0; size < list.by_size().size(); ++size) {
    const auto& scores = list.by_size()[size].scores;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      entries.push_back({scores[i], static_cast<std::uint32_t>(i), static_cast<std::uint16_t>(size)});
    }
  }
  const auto members = [&](const Entry& entry) {
    return std::span(list.by_size()[entry.size].parents).subspan(
        static_cast<std::size_t>(entry.index) * entry.size, entry.size);
  };
  std::sort(entries.begin(), entries.end(), [&](const Entry& left, const Entry& right) {
    if (left.score != right.score) return left.score > right.score;
    if (left.size != right.size) return left.size < right.size;
    const auto a = members(left);
    const auto b = members(right);
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  for (const Entry& entry : entries) {
    result.scores[first_set] = entry.score;
    result.set_offsets[first_set] = static_cast<std::int64_t>(first_parent);
    for (const std::uint16_t parent : members(entry)) result.parents[first_parent++] = parent;
    ++first_set;
  }
}

}  // namespace

void sort_families(std::vector<FamilyList>& lists, int n_jobs, ScoredSets& result) {
  std::vector<std::size_t> first_set(lists.size() + 1, 0);
  std::vector<std::size_t> first_parent(lists.size() + 1, 0);
  for (std::size_t v = 0; v < lists.size(); ++v) {
    first_set[v + 1] = first_set[v] + lists[v].n_sets();
    first_parent[v + 1] = first_parent[v];
    for (const auto& list : lists[v].by_size()) first_parent[v + 1] += list.parents.size();
  }
  result.variable_offsets.assign(first_set.begin(), first_set.end());
  result.scores.resize(first_set.back());
  result.set_offsets.assign(first_set.back() + 1, 0);
  result.parents.resize(first_parent.back());
  result.set_offsets.back() = static_cast<std::int64_t>(first_parent.back());

  Control always;  // what was found is kept even when the search was stopped
  for_each_unit(
      static_cast<std::int64_t>(lists.size()), n_jobs, always,
      [] { return std::vector<Entry>(); },
      [&](std::int64_t unit, std::vector<Entry>& entries) {
        const auto v = static_cast<std::size_t>(unit);
        sort_child(lists[v], first_set[v], first_parent[v], entries, result);
        lists[v].clear();
      },
      [](std::vector<Entry>&) {});
}

}  // namespace twbn
