// Which variables may be parents of which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scores/score_lookup.h"

namespace twbn {

/// Candidate parents of every variable, shared by the chains of one run.
class CandidateArcs {
 public:
  /// All that occur in a parent set of the scores, those of the best sets first; where these have no
  /// sets, all variables in any order.
  explicit CandidateArcs(const ScoreLookup& scores);
  /// The most promising ones, best first: those of child i are vertices[offsets[i] ..
  /// offsets[i + 1]).
  CandidateArcs(std::span<const std::int64_t> offsets, std::span<const std::int32_t> vertices);
  /// Whether the promising ones come first: chains then prefer these, and what is near the child.
  bool ranked() const { return ranked_; }
  std::span<const std::int32_t> of(int child) const {
    const auto first = offsets_[static_cast<std::size_t>(child)];
    return std::span(vertices_).subspan(first, offsets_[static_cast<std::size_t>(child) + 1] - first);
  }

 private:
  bool ranked_ = false;
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> vertices_;
};

}  // namespace twbn
