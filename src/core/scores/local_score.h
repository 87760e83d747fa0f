// The score of one variable given one parent set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scores/cell_numbers.h"
#include "scores/columns.h"
#include "scores/terms.h"

namespace twbn {

/// Counts and scores single families. Holds scratch space: one object per thread.
class LocalScorer {
 public:
  LocalScorer(const Columns& columns, const Terms& terms);

  /// Local score of `child` given `parents`. O(n_rows · |parents|), or one pass of AND and
  /// popcount per parent configuration for few-state columns.
  double score(int child, std::span<const int> parents);

  /// Sum of parent terms of `parents` for a child of `child_arity` states.
  double parent_term(std::span<const int> parents, int child_arity);

  /// Number of observed (parents, child) cells of the last family scored.
  std::int64_t observed_cells() const { return observed_cells_; }

 private:
  bool fits_bitmaps(int child, std::span<const int> parents) const;
  void split(std::size_t depth, std::span<const int> parents, int child);
  /// As `Terms::table`, without its lock where the table was asked for a moment ago.
  const double* table(double n_cells, int child_arity);
  double joint_cell(double count) const;
  double parent_cell(double count) const;

  const Columns& columns_;
  const Terms& terms_;
  std::vector<std::uint64_t> bitmaps_;  // one cell per depth
  CellNumbers cells_;
  struct KnownTable {
    double n_cells = -1;
    int child_arity = 0;
    const double* table = nullptr;
  };
  std::array<KnownTable, 64> tables_;

  // The family being scored.
  int child_arity_ = 0;
  double joint_cells_ = 0;
  double parent_cells_ = 0;
  const double* joint_table_ = nullptr;
  const double* parent_table_ = nullptr;
  double joint_ = 0;
  double parent_ = 0;
  std::int64_t observed_cells_ = 0;
};

}  // namespace twbn
