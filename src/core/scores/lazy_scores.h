// Scores computed when first asked for, and remembered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "scores/columns.h"
#include "scores/local_score.h"
#include "scores/parent_sets.h"
#include "scores/score_lookup.h"
#include "scores/terms.h"

namespace twbn {

/// Thread-safe cache of local scores in bounded memory. A family is known by two hashes of 64 bits;
/// it may stand in one of a few places, and where these are all taken, one that was not asked for
/// again makes room. A forgotten score is computed again when asked for.
class LazyScoreCache {
 public:
  static constexpr std::size_t bytes_per_set = 32;

  LazyScoreCache(const Columns& columns, const Terms& terms, std::size_t max_sets);

  double score(int child, std::span<const std::int32_t> parents);
  std::size_t n_remembered() const;
  std::int64_t n_computed() const;
  const Columns& columns() const { return columns_; }
  const Terms& terms() const { return terms_; }

 private:
  struct Entry {
    std::uint64_t first = 0, second = 0;
    double score = 0;
    bool used = false, again = false;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::vector<Entry> entries;  // buckets of `bucket_size`
    std::size_t n_used = 0;
    std::int64_t n_computed = 0;
  };
  static constexpr std::size_t n_shards = 64, bucket_size = 4;

  static Entry* find(Shard& shard, std::uint64_t first, std::uint64_t second);
  static std::array<Entry*, 2> buckets(Shard& shard, std::uint64_t first, std::uint64_t second);
  void remember(Shard& shard, const Entry& entry) const;
  static bool place(Shard& shard, const Entry& entry);
  static void replace(Shard& shard, const Entry& entry);
  double computed(int child, std::span<const std::int32_t> parents);

  const Columns& columns_;
  const Terms& terms_;
  std::size_t max_entries_;  // of a shard
  std::array<Shard, n_shards> shards_;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<LocalScorer>> idle_;  // scorers that no thread uses now
};

/// Lazy scores as the searches see them: families that the rules exclude score minus infinity.
class LazyLookup final : public ScoreLookup {
 public:
  LazyLookup(LazyScoreCache& cache, ParentSetRules rules);
  int n_variables() const override { return static_cast<int>(rules_.max_parents.size()); }
  int max_parents() const override;
  double score(int child, std::span<const std::int32_t> parents) override;

 private:
  LazyScoreCache& cache_;
  ParentSetRules rules_;
  bool allows_all_ = true;  // then the matrix, which does not fit into a cache, is not looked at
};

}  // namespace twbn
