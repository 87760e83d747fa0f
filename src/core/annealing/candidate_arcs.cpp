#include "annealing/candidate_arcs.h"

#include "base/numbers.h"

namespace twbn {

CandidateArcs::CandidateArcs(const ScoreLookup& scores) {
  const int n = scores.n_variables();
  const ScoreIndex* index = scores.index();
  ranked_ = index != nullptr;  // by the best set that they are in, as sets come best first
  std::vector<char> seen(static_cast<std::size_t>(n));
  offsets_.push_back(0);
  for (int child = 0; child < n; ++child) {
    if (index == nullptr) {
      for (std::int32_t v = 0; v < n; ++v) {
        if (v != child) vertices_.push_back(v);
      }
    } else {
      const auto offsets = index->variable_offsets();
      for (auto set = offsets[at(child)]; set < offsets[at(child) + 1]; ++set) {
        for (const std::int32_t v : index->parents(set)) {
          if (seen[at(v)]) continue;
          seen[at(v)] = 1;
          vertices_.push_back(v);
        }
      }
      for (std::size_t i = offsets_.back(); i < vertices_.size(); ++i) seen[at(vertices_[i])] = 0;
    }
    offsets_.push_back(vertices_.size());
  }
}

CandidateArcs::CandidateArcs(std::span<const std::int64_t> offsets,
                             std::span<const std::int32_t> vertices)
    : ranked_(true),
      offsets_(offsets.begin(), offsets.end()),
      vertices_(vertices.begin(), vertices.end()) {}

}  // namespace twbn
