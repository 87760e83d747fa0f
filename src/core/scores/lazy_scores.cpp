#include "scores/lazy_scores.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "scores/score_index.h"

namespace twbn {

LazyScoreCache::LazyScoreCache(const Columns& columns, const Terms& terms, std::size_t max_sets)
    : max_sets_per_shard_(std::max<std::size_t>(max_sets / n_shards, 16)) {
  for (Shard& shard : shards_) shard.scorer = std::make_unique<LocalScorer>(columns, terms);
}

double LazyScoreCache::score(int child, std::span<const std::int32_t> parents) {
  std::string key;  // the family's numbers, byte by byte
  key.reserve(sizeof(std::int32_t) * (parents.size() + 1));
  const auto append = [&key](std::int32_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append(child);
  for (const std::int32_t parent : parents) append(parent);

  Shard& shard = shards_[family_hash(child, parents) % n_shards];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.scores.find(key);
  if (found != shard.scores.end()) return found->second;
  const double score = shard.scorer->score(child, parents);
  ++shard.n_computed;
  if (shard.scores.size() >= max_sets_per_shard_) shard.scores.clear();
  shard.scores.emplace(std::move(key), score);
  return score;
}

std::size_t LazyScoreCache::n_remembered() const {
  std::size_t n = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    n += shard.scores.size();
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
    : cache_(cache), rules_(std::move(rules)) {}

int LazyLookup::max_parents() const {
  return *std::max_element(rules_.max_parents.begin(), rules_.max_parents.end());
}

double LazyLookup::score(int child, std::span<const std::int32_t> parents) {
  const auto v = static_cast<std::size_t>(child);
  const std::size_t n = rules_.max_parents.size();
  const auto& required = rules_.required[v];
  bool wanted = parents.size() <= static_cast<std::size_t>(rules_.max_parents[v]) &&
                std::includes(parents.begin(), parents.end(), required.begin(), required.end());
  for (const std::int32_t parent : parents) {
    wanted = wanted && rules_.allowed[v * n + static_cast<std::size_t>(parent)] != 0;
  }
  return wanted ? cache_.score(child, parents) : minus_infinity;
}

}  // namespace twbn
