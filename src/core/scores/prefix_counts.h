// Counts of one set extended by every other variable at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scores/cell_numbers.h"
#include "scores/columns.h"
#include "scores/terms.h"

namespace twbn {

/// The contingency table of a set of variables (the prefix), kept as the rows of each observed
/// cell, and the counts of every cell against every bit column. Extending the prefix by one
/// variable counts only the cells of its states other than 0: those of state 0 are what remains.
struct Prefix {
  std::vector<int> variables;
  double n_configurations = 1;  // observed or not
  std::size_t n_cells = 0;      // observed
  bool packed = true;           // bitmaps and counts below are filled
  std::size_t counted = 0;      // bit columns 0 .. counted - 1 are in `counts`
  std::vector<std::uint64_t> bitmaps;      // n_cells × n_words
  std::vector<std::uint32_t> cell_counts;  // n_cells
  std::vector<std::uint32_t> counts;       // n_cells × counted
};

/// Builds prefixes and sums terms over their extensions. One object per thread.
class PrefixCounter {
 public:
  PrefixCounter(const Columns& columns, const Terms& terms);

  /// The prefix of no variables, counted against every column.
  void start(Prefix& prefix) const;
  /// `child` = `parent` extended by v, counted against the variables 0 .. limit - 1. With `last`
  /// the child will not be extended further and keeps no more than it needs.
  void extend(const Prefix& parent, int v, int limit, bool last, Prefix& child) const;

  /// joint[a] = joint term of prefix ∪ {a} for every a < limit (members of the prefix excepted),
  /// and observed[a] = its observed cells where `observed` is not null.
  void joint_terms(const Prefix& prefix, int limit, double* joint, std::uint32_t* observed);
  /// parent[a] = parent term of prefix ∪ {a} for a child of `child_arity` states.
  void parent_terms(const Prefix& prefix, int limit, int child_arity, double* parent);

 private:
  void sum_terms(const Prefix& prefix, int limit, int child_arity, double* sums,
                 std::uint32_t* observed);
  void sum_packed_binary(const Prefix& prefix, std::size_t limit, const double* table, double* sums,
                         std::uint32_t* observed) const;
  double sum_packed(const Prefix& prefix, int a, int child_arity, std::uint32_t& observed) const;
  double sum_rows(int a, double n_cells, int child_arity, std::uint32_t& observed);

  const Columns& columns_;
  const Terms& terms_;
  bool all_binary_;
  CellNumbers cells_;
};

}  // namespace twbn
