// How the searches ask for local scores: from a dense array, a hash, or computed on demand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "scores/score_index.h"

namespace twbn {

/// Local scores by family; minus infinity where a family is not a candidate. `parents` ascending.
class ScoreLookup {
 public:
  virtual ~ScoreLookup() = default;
  virtual int n_variables() const = 0;
  /// Largest parent set of any variable.
  virtual int max_parents() const = 0;
  virtual double score(int child, std::span<const std::int32_t> parents) = 0;
  /// The precomputed table behind it, if there is one.
  virtual const ScoreIndex* index() const { return nullptr; }
  /// One bit for each variable: is it in any parent set of `child`? Null where that is not known.
  virtual const std::uint64_t* candidates(int) const { return nullptr; }
};

/// Scores of a precomputed table, by hash.
class IndexLookup final : public ScoreLookup {
 public:
  explicit IndexLookup(const ScoreIndex& index);
  int n_variables() const override { return index_.n_variables(); }
  int max_parents() const override { return max_parents_; }
  double score(int child, std::span<const std::int32_t> parents) override {
    return index_.score(child, parents);
  }
  const ScoreIndex* index() const override { return &index_; }
  const std::uint64_t* candidates(int child) const override {
    return candidates_.empty() ? nullptr
                               : candidates_.data() + static_cast<std::size_t>(child) * n_words_;
  }

 private:
  static constexpr std::size_t max_candidate_bytes = std::size_t{256} << 20;
  const ScoreIndex& index_;
  int max_parents_ = 0;
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> candidates_;
};

/// The sets of at most three parents of a precomputed table as one array per child: position 0 is
/// the empty set, then {a}, then {a < b} and {a < b < c} in colexicographic order.
class DenseScores {
 public:
  static bool fits(int n, int max_parents, std::size_t max_bytes);
  explicit DenseScores(const ScoreIndex& index, int max_parents);

  double none(int child) const { return row(child)[0]; }
  double one(int child, std::int32_t a) const { return row(child)[1 + static_cast<std::size_t>(a)]; }
  double two(int child, std::int32_t a, std::int32_t b) const {  // a < b
    return row(child)[pairs_[static_cast<std::size_t>(b)] + static_cast<std::size_t>(a)];
  }
  double three(int child, std::int32_t a, std::int32_t b, std::int32_t c) const {  // a < b < c
    return row(child)[triples_[static_cast<std::size_t>(c)] + pairs_[static_cast<std::size_t>(b)] +
                      static_cast<std::size_t>(a)];
  }

 private:
  const double* row(int child) const {
    return scores_.data() + static_cast<std::size_t>(child) * stride_;
  }
  std::size_t stride_ = 0;
  std::vector<std::size_t> pairs_;
  std::vector<std::size_t> triples_;
  std::vector<double> scores_;
};

}  // namespace twbn
