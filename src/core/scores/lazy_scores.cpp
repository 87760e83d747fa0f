#include "scores/lazy_scores.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/numbers.h"
#include "scores/score_index.h"

namespace twbn {

namespace {

// A second hash of a family, independent of `family_hash`.
std::uint64_t second_hash(int child, std::span<const std::int32_t> parents) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(child);
  const auto mix = [&hash](std::uint64_t number) {
    hash = (hash ^ number) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 29;
  };
  mix(parents.size());
  for (const std::int32_t parent : parents) mix(static_cast<std::uint64_t>(parent) + 1);
  return hash;
}

}  // namespace

LazyScoreCache::LazyScoreCache(const Columns& columns, const Terms& terms, std::size_t max_sets)
    : columns_(columns),
      terms_(terms),
      max_entries_(std::bit_floor(std::max<std::size_t>(max_sets / n_shards, 4 * bucket_size))) {}

double LazyScoreCache::score(int child, std::span<const std::int32_t> parents) {
  const std::uint64_t first = family_hash(child, parents);
  const std::uint64_t second = second_hash(child, parents);
  Shard& shard = shards_[second % n_shards];
  {
    const std::lock_guard lock(shard.mutex);
    if (Entry* entry = find(shard, first, second)) {
      entry->again = true;
      return entry->score;
    }
  }
  const double score = computed(child, parents);
  const std::lock_guard lock(shard.mutex);
  ++shard.n_computed;
  // Another thread may have computed it meanwhile.
  if (find(shard, first, second) == nullptr) remember(shard, {first, second, score, true, false});
  return score;
}

double LazyScoreCache::computed(int child, std::span<const std::int32_t> parents) {
  std::unique_ptr<LocalScorer> scorer;
  {
    const std::lock_guard lock(idle_mutex_);
    if (!idle_.empty()) {
      scorer = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!scorer) scorer = std::make_unique<LocalScorer>(columns_, terms_);
  const double score = scorer->score(child, parents);
  const std::lock_guard lock(idle_mutex_);
  idle_.push_back(std::move(scorer));
  return score;
}

// A family may stand in two buckets.
std::array<LazyScoreCache::Entry*, 2> LazyScoreCache::buckets(Shard& shard, std::uint64_t first,
                                                              std::uint64_t second) {
  const std::size_t mask = shard.entries.size() / bucket_size - 1;
  Entry* entries = shard.entries.data();
  return {entries + (first & mask) * bucket_size, entries + (second >> 32 & mask) * bucket_size};
}

LazyScoreCache::Entry* LazyScoreCache::find(Shard& shard, std::uint64_t first,
                                            std::uint64_t second) {
  if (shard.entries.empty()) return nullptr;
  for (Entry* bucket : buckets(shard, first, second)) {
    for (Entry* entry = bucket; entry < bucket + bucket_size; ++entry) {
      if (entry->used && entry->first == first && entry->second == second) return entry;
    }
  }
  return nullptr;
}

// A shard grows when it is three quarters full, or both buckets are, up to its limit.
void LazyScoreCache::remember(Shard& shard, const Entry& entry) const {
  while (4 * shard.n_used >= 3 * shard.entries.size() || !place(shard, entry)) {
    if (shard.entries.size() >= max_entries_) {
      if (!place(shard, entry)) replace(shard, entry);
      return;
    }
    std::vector<Entry> before(std::max<std::size_t>(2 * shard.entries.size(), 4 * bucket_size));
    before.swap(shard.entries);
    shard.n_used = 0;
    for (const Entry& old : before) {
      if (old.used && !place(shard, old)) replace(shard, old);
    }
  }
}

// In the bucket with more room; false if there is none.
bool LazyScoreCache::place(Shard& shard, const Entry& entry) {
  Entry* free = nullptr;
  std::ptrdiff_t most = 0;
  for (Entry* bucket : buckets(shard, entry.first, entry.second)) {
    const auto is_free = [](const Entry& other) { return !other.used; };
    const std::ptrdiff_t room = std::count_if(bucket, bucket + bucket_size, is_free);
    if (room > most) {
      most = room;
      free = std::find_if(bucket, bucket + bucket_size, is_free);
    }
  }
  if (free == nullptr) return false;
  *free = entry;
  ++shard.n_used;
  return true;
}

// The first that was not asked for again goes; those passed over have had their second chance.
void LazyScoreCache::replace(Shard& shard, const Entry& entry) {
  Entry* bucket = buckets(shard, entry.first, entry.second)[0];
  std::size_t out = 0;
  while (out + 1 < bucket_size && bucket[out].again) bucket[out++].again = false;
  bucket[out] = entry;
}

std::size_t LazyScoreCache::n_remembered() const {
  std::size_t n = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    n += shard.n_used;
  }
  return n;
}

std::int64_t LazyScoreCache::n_computed() const {
  std::int64_t n = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    n += shard.n_computed;
  }
  return n;
}

LazyLookup::LazyLookup(LazyScoreCache& cache, ParentSetRules rules)
    : cache_(cache), rules_(std::move(rules)) {
  const std::size_t n = rules_.max_parents.size();
  for (std::size_t i = 0; i < rules_.allowed.size(); ++i) {
    allows_all_ = allows_all_ && (rules_.allowed[i] != 0 || i / n == i % n);
  }
}

int LazyLookup::max_parents() const {
  return *std::max_element(rules_.max_parents.begin(), rules_.max_parents.end());
}

double LazyLookup::score(int child, std::span<const std::int32_t> parents) {
  const auto v = static_cast<std::size_t>(child);
  const std::size_t n = rules_.max_parents.size();
  const auto& required = rules_.required[v];
  bool wanted = parents.size() <= static_cast<std::size_t>(rules_.max_parents[v]) &&
                std::includes(parents.begin(), parents.end(), required.begin(), required.end());
  if (allows_all_) {
    wanted = wanted && std::find(parents.begin(), parents.end(), child) == parents.end();
  } else {
    for (const std::int32_t parent : parents) {
      wanted = wanted && rules_.allowed[v * n + static_cast<std::size_t>(parent)] != 0;
    }
  }
  if (wanted && !rules_.n_states.empty()) {
    double states = rules_.n_states[v];
    for (const std::int32_t parent : parents) states *= rules_.n_states[at(parent)];
    wanted = states <= rules_.max_states;
  }
  return wanted ? cache_.score(child, parents) : minus_infinity;
}

}  // namespace twbn
