// Which cell of a contingency table each row falls into, counted row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scores/columns.h"

namespace twbn {

/// Numbers the cells of a growing set of variables. Memory stays O(n_rows), however many states.
class CellNumbers {
 public:
  explicit CellNumbers(const Columns& columns)
      : columns_(columns), dense_(std::max<std::size_t>(4096, 4 * columns.n_rows())) {}

  void start() {
    cell_of_row_.assign(columns_.n_rows(), 0);
    n_cells_ = 1;
  }

  /// Splits every cell by the states of v. Cells keep all numbers while these are few, and are
  /// renumbered in order of first appearance, the observed ones only, when they are many.
  void extend(int v) {
    const auto arity = static_cast<std::uint32_t>(columns_.arity(v));
    const std::uint16_t* codes = columns_.codes(v);
    if (n_cells_ * arity <= dense_) {
      for (std::size_t row = 0; row < cell_of_row_.size(); ++row) {
        cell_of_row_[row] = cell_of_row_[row] * arity + codes[row];
      }
      n_cells_ *= arity;
      return;
    }
    sort_rows(codes, arity);
    std::size_t next = 0;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      if (i > 0 && sorted_[i].first != sorted_[i - 1].first) ++next;
      cell_of_row_[sorted_[i].second] = static_cast<std::uint32_t>(next);
    }
    n_cells_ = sorted_.empty() ? 1 : next + 1;
  }

  /// Calls visit(count) for every cell that occurs.
  template <class Visit>
  void for_each_count(Visit visit) {
    counts_.assign(n_cells_, 0.0);
    for (std::size_t row = 0; row < cell_of_row_.size(); ++row) {
      counts_[cell_of_row_[row]] += weight(row);
    }
    visit_counts(visit);
  }

  /// Calls visit(count) for every cell split by the states of v that occurs, and whole(count) for
  /// every cell, without keeping the split.
  template <class Visit, class Whole>
  void for_each_count_with(int v, Visit visit, Whole whole) {
    const auto arity = static_cast<std::uint32_t>(columns_.arity(v));
    const std::uint16_t* codes = columns_.codes(v);
    if (n_cells_ * arity <= dense_) {
      if (columns_.weighted()) {
        counts_.assign(n_cells_ * arity, 0.0);
        for (std::size_t row = 0; row < cell_of_row_.size(); ++row) {
          counts_[cell_of_row_[row] * arity + codes[row]] += weight(row);
        }
        visit_split(counts_, arity, visit, whole);
        return;
      }
      whole_counts_.assign(n_cells_ * arity, 0);
      for (std::size_t row = 0; row < cell_of_row_.size(); ++row) {
        ++whole_counts_[cell_of_row_[row] * arity + codes[row]];
      }
      visit_split(whole_counts_, arity, visit, whole);
      return;
    }
    for_each_count(whole);
    sort_rows(codes, arity);
    for (std::size_t i = 0; i < sorted_.size();) {
      const std::uint64_t cell = sorted_[i].first;
      double count = 0;
      for (; i < sorted_.size() && sorted_[i].first == cell; ++i) count += weight(sorted_[i].second);
      if (count > 0) visit(count);
    }
  }

 private:
  double weight(std::size_t row) const {
    return columns_.weighted() ? columns_.weights()[row] : 1.0;
  }
  void sort_rows(const std::uint16_t* codes, std::uint32_t arity) {
    sorted_.resize(cell_of_row_.size());
    for (std::size_t row = 0; row < cell_of_row_.size(); ++row) {
      sorted_[row] = {std::uint64_t{cell_of_row_[row]} * arity + codes[row],
                      static_cast<std::uint32_t>(row)};
    }
    std::sort(sorted_.begin(), sorted_.end());
  }
  template <class Count, class Visit, class Whole>
  static void visit_split(const std::vector<Count>& counts, std::uint32_t arity, Visit visit,
                          Whole whole) {
    for (std::size_t first = 0; first < counts.size(); first += arity) {
      Count sum = 0;
      for (std::size_t i = first; i < first + arity; ++i) {
        if (counts[i] > 0) visit(static_cast<double>(counts[i]));
        sum += counts[i];
      }
      if (sum > 0) whole(static_cast<double>(sum));
    }
  }
  template <class Visit>
  void visit_counts(Visit visit) const {
    for (const double count : counts_) {
      if (count > 0) visit(count);
    }
  }

  const Columns& columns_;
  std::size_t dense_;  // most cells that are numbered without checking which occur
  std::size_t n_cells_ = 1;
  std::vector<std::uint32_t> cell_of_row_;
  std::vector<double> counts_;
  std::vector<std::uint32_t> whole_counts_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted_;
};

}  // namespace twbn
