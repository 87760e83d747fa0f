// Scores of all parent sets up to a size, pruned.
#pragma once

#include <cstdint>

#include "base/control.h"
#include "scores/columns.h"
#include "scores/parent_sets.h"
#include "scores/terms.h"

namespace twbn {

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
