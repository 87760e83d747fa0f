// Scores computed when first asked for, and remembered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "scores/parent_sets.h"
#include "scores/columns.h"
#include "scores/local_score.h"
#include "scores/score_lookup.h"
#include "scores/terms.h"

namespace twbn {

/// Thread-safe cache of local scores in bounded memory. When a shard is full it forgets all it
/// holds: scores are recomputed when asked for again, never wrong.
class LazyScoreCache {
 public:
  LazyScoreCache(const Columns& columns, const Terms& terms, std::size_t max_sets);

  double score(int child, std::span<const std::int32_t> parents);
  std::size_t n_remembered() const;
  std::int64_t n_computed() const;

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, double> scores;
    std::unique_ptr<LocalScorer> scorer;
    std::int64_t n_computed = 0;
  };
  static constexpr std::size_t n_shards = 16;

  std::size_t max_sets_per_shard_;
  std::array<Shard, n_shards> shards_;
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
};

}  // namespace twbn
