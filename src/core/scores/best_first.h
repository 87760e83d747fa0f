// Promising parent sets of wide tables within a budget.
#pragma once

#include <cstdint>

#include "base/control.h"
#include "scores/columns.h"
#include "scores/parent_sets.h"
#include "scores/terms.h"

namespace twbn {

/// For each child: the empty set and all single parents; with half of the budget all sets of the
/// best few of these; then a best-first exploration. From a
/// scored set P the next candidate is P ∪ {a} for the best single parent a not yet tried with P;
/// candidates are taken in the order of the estimate
///     score(P ∪ {a}) ≈ score(P) + score({a}) − score(∅).
/// At most `budget` sets of two or more parents are scored per child. With a deadline, the
/// children share the time left evenly, and what was found is kept; a child that is reached too
/// late gets only its empty set (or the required one).
ScoredSets explore_best_first(const Columns& columns, const Terms& terms,
                              const ParentSetRules& rules, std::int64_t budget, int n_jobs,
                              Control& control);

}  // namespace twbn
