#include "scores/score_index.h"

#include <algorithm>
#include <bit>

#include "base/numbers.h"

namespace twbn {

std::uint64_t family_hash(int child, std::span<const std::int32_t> parents) {
  std::uint64_t hash = static_cast<std::uint64_t>(child) + 0x9e3779b97f4a7c15ULL;
  for (const std::int32_t parent : parents) {
    hash = (hash ^ static_cast<std::uint64_t>(parent + 1)) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29;
  }
  hash *= 0x94d049bb133111ebULL;
  return hash ^ (hash >> 32);
}

ScoreIndex::ScoreIndex(std::span<const std::int64_t> variable_offsets,
                       std::span<const double> scores, std::span<const std::int64_t> set_offsets,
                       std::span<const std::int32_t> parents)
    : variable_offsets_(variable_offsets),
      scores_(scores),
      set_offsets_(set_offsets),
      parents_(parents) {
  const std::size_t n_slots = std::bit_ceil(std::max<std::size_t>(2 * scores.size(), 16));
  slots_.assign(n_slots, -1);
  tags_.assign(n_slots, 0);
  mask_ = n_slots - 1;
  for (int child = 0; child < n_variables(); ++child) {
    const auto v = static_cast<std::size_t>(child);
    for (std::int64_t set = variable_offsets[v]; set < variable_offsets[v + 1]; ++set) {
      const auto members = this->parents(set);
      if (find(child, members) >= 0) {
        if (duplicate_ < 0) duplicate_ = set;
        continue;
      }
      const std::uint64_t hash = family_hash(child, members);
      std::uint64_t slot = hash & mask_;
      while (slots_[slot] >= 0) slot = (slot + 1) & mask_;
      slots_[slot] = set;
      tags_[slot] = static_cast<std::uint32_t>(hash >> 32);
    }
  }
}

std::int64_t ScoreIndex::find(int child, std::span<const std::int32_t> parents) const {
  const std::uint64_t hash = family_hash(child, parents);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const auto v = static_cast<std::size_t>(child);
  for (std::uint64_t slot = hash & mask_; slots_[slot] >= 0; slot = (slot + 1) & mask_) {
    const std::int64_t set = slots_[slot];
    if (tags_[slot] != tag || set < variable_offsets_[v] || set >= variable_offsets_[v + 1]) {
      continue;
    }
    const auto members = this->parents(set);
    if (std::equal(members.begin(), members.end(), parents.begin(), parents.end())) return set;
  }
  return -1;
}

double ScoreIndex::score(int child, std::span<const std::int32_t> parents) const {
  const std::int64_t set = find(child, parents);
  return set < 0 ? minus_infinity : scores_[static_cast<std::size_t>(set)];
}

}  // namespace twbn
