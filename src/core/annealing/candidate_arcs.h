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
  explicit CandidateArcs(const ScoreLookup& scores);
  std::span<const std::int32_t> of(int child) const {
    const auto first = offsets_[static_cast<std::size_t>(child)];
    return std::span(vertices_).subspan(first, offsets_[static_cast<std::size_t>(child) + 1] - first);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> vertices_;
};

}  // namespace twbn
