// Rules for which parent sets to score, and the scored parent sets.
#pragma once

#include <cstdint>
#include <vector>

namespace twbn {

/// Which parent sets are wanted.
struct ParentSetRules {
  std::vector<std::int32_t> max_parents;            // for each child
  std::vector<std::uint8_t> allowed;                // allowed[child * n + parent]
  std::vector<std::vector<std::int32_t>> required;  // for each child, sorted
  bool prune = true;
  // Where joint states are limited: those of each variable, and the most that a family may have.
  std::vector<double> n_states{};
  double max_states = 0;
};

/// Parent sets of every child, best first: sets of child i are variable_offsets[i] up to
/// variable_offsets[i + 1]; the parents of set t are parents[set_offsets[t] .. set_offsets[t + 1]).
struct ScoredSets {
  std::vector<std::int64_t> variable_offsets;
  std::vector<double> scores;
  std::vector<std::int64_t> set_offsets;
  std::vector<std::int32_t> parents;
  int complete_size = -1;      // all sets up to this size were considered
  std::int64_t n_scored = 0;   // sets whose score was computed
  std::int64_t n_skipped = 0;  // sets that a bound ruled out unscored
  bool timed_out = false;      // stopped by the deadline before it was done
  bool out_of_memory = false;  // stopped because the result reached max_result_bytes
};

}  // namespace twbn
