// The best single parents of every variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/control.h"
#include "scores/columns.h"
#include "scores/parent_sets.h"
#include "scores/terms.h"

namespace twbn {

/// For each child its best single parents, best first: those of child i are
/// parents[offsets[i] .. offsets[i + 1]).
struct SingleParents {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> parents;
};

/// The `most` best single parents of each child among those that the rules allow. All pairs are
/// scored, and none but the best are kept: O(n²) time with one pass of AND and popcount per pair of
/// states, O(n · most) memory. A child that is reached too late has none.
SingleParents best_single_parents(const Columns& columns, const Terms& terms,
                                  const ParentSetRules& rules, std::size_t most, int n_jobs,
                                  Control& control);

}  // namespace twbn
