// Scores of all parent sets up to a size, pruned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "columns.h"
#include "control.h"
#include "terms.h"

namespace twbn {

/// Which parent sets are wanted.
struct ParentSetRules {
  std::vector<std::int32_t> max_parents;            // for each child
  std::vector<std::uint8_t> allowed;                // allowed[child * n + parent]
  std::vector<std::vector<std::int32_t>> required;  // for each child, sorted
  bool prune = true;
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

/// Level by level over the size of the parent set. For every set S the joint term is computed
/// once and serves all its members as child. A set is kept when no subset scores as well; a branch
/// is skipped when a bound proves that no superset can be kept:
///   BIC, AIC   score(P') ≤ −penalty(P') for every P' ⊇ P;
///   BDeu       score(P') ≤ −(observed cells of P ∪ {i}) · ln r_i for every P' ⊇ P, because the
///              first row of each observed cell is predicted with probability at most 1 / r_i.
/// Time: one AND-popcount pass over packed words per set and few table look-ups.
ScoredSets score_all_sets(const Columns& columns, const Terms& terms, const ParentSetRules& rules,
                          int n_jobs, std::int64_t max_result_bytes, Control& control);

}  // namespace twbn
