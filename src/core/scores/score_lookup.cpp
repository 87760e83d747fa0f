#include "scores/score_lookup.h"

#include "base/numbers.h"

namespace twbn {

IndexLookup::IndexLookup(const ScoreIndex& index) : index_(index) {
  const auto n = static_cast<std::size_t>(index.n_variables());
  n_words_ = (n + 63) / 64;
  if (n * n_words_ * 8 <= max_candidate_bytes) candidates_.assign(n * n_words_, 0);
  for (std::size_t child = 0; child < n; ++child) {
    for (std::int64_t set = index.variable_offsets()[child];
         set < index.variable_offsets()[child + 1]; ++set) {
      const auto parents = index.parents(set);
      max_parents_ = std::max(max_parents_, static_cast<int>(parents.size()));
      if (candidates_.empty()) continue;
      for (const std::int32_t p : parents) {
        candidates_[child * n_words_ + static_cast<std::size_t>(p) / 64] |=
            std::uint64_t{1} << (static_cast<unsigned>(p) % 64);
      }
    }
  }
}

bool DenseScores::fits(int n, int max_parents, std::size_t max_bytes) {
  if (max_parents > 3) return false;
  const auto wide = static_cast<double>(n);
  double stride = 1 + wide;
  if (max_parents >= 2) stride += wide * (wide - 1) / 2;
  if (max_parents >= 3) stride += wide * (wide - 1) * (wide - 2) / 6;
  return stride * wide * sizeof(double) <= static_cast<double>(max_bytes);
}

DenseScores::DenseScores(const ScoreIndex& index, int max_parents) {
  const auto n = static_cast<std::size_t>(index.n_variables());
  const std::size_t n_pairs = max_parents >= 2 ? n * (n - 1) / 2 : 0;
  const std::size_t n_triples = max_parents >= 3 && n >= 3 ? n * (n - 1) * (n - 2) / 6 : 0;
  stride_ = 1 + n + n_pairs + n_triples;
  pairs_.resize(n);
  triples_.resize(n);
  // The offset of pairs is part of pairs_; triples_ makes up for it.
  for (std::size_t v = 0; v < n; ++v) {
    pairs_[v] = 1 + n + v * (v - (v > 0)) / 2;
    triples_[v] = n_pairs + (v >= 3 ? v * (v - 1) * (v - 2) / 6 : 0);
  }
  scores_.assign(stride_ * n, minus_infinity);
  for (std::size_t child = 0; child < n; ++child) {
    double* row = scores_.data() + child * stride_;
    for (std::int64_t set = index.variable_offsets()[child];
         set < index.variable_offsets()[child + 1]; ++set) {
      const auto parents = index.parents(set);
      std::size_t place = 0;
      if (parents.size() == 1) place = 1 + static_cast<std::size_t>(parents[0]);
      if (parents.size() >= 2) {
        place = pairs_[static_cast<std::size_t>(parents[1])] + static_cast<std::size_t>(parents[0]);
      }
      if (parents.size() == 3) place += triples_[static_cast<std::size_t>(parents[2])];
      row[place] = index.scores()[static_cast<std::size_t>(set)];
    }
  }
}

}  // namespace twbn
