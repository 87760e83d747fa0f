// The bags of a junction tree, with the tables of a network in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inference/factors.h"

namespace twbn {

/// Bags of variables, ascending, and for each the tables of the variables whose home it is. The
/// tables of a bag are multiplied beforehand where that takes little memory and loses no precision.
/// Nothing changes after construction.
class BagTree {
 public:
  /// A table in a bag: its stride for each variable of the bag, zero where it lacks the variable.
  struct Table {
    const double* values;
    std::vector<std::int64_t> strides;
  };

  /// `factors` must outlive the tree. `home`: for each variable a bag that holds its family. With
  /// `codes`, tables are sliced where these are not negative, and bags hold the other variables; -1
  /// is then the home of a table of which that leaves one number.
  BagTree(const Factors& factors, std::vector<std::vector<std::int32_t>> bags,
          std::span<const std::int32_t> home, std::span<const std::int32_t> codes = {});
  BagTree(const BagTree&) = delete;  // tables point into it
  BagTree& operator=(const BagTree&) = delete;

  const Factors& factors() const { return factors_; }
  std::size_t n_bags() const { return bags_.size(); }
  std::span<const std::int32_t> bag(std::size_t b) const { return bags_[b]; }
  std::span<const Table> tables(std::size_t b) const { return tables_[b]; }
  /// Variables whose home is a bag.
  std::span<const std::int32_t> residents(std::size_t b) const { return residents_[b]; }
  /// The sum of the logarithms of tables of which one number is left.
  double log_scalars() const { return log_scalars_; }

 private:
  Table table_of(std::int32_t v, std::span<const std::int32_t> bag,
                 std::span<const std::int32_t> codes) const;
  void merge(std::size_t b);

  const Factors& factors_;
  std::vector<std::vector<std::int32_t>> bags_, residents_;
  double log_scalars_ = 0;
  std::vector<std::vector<Table>> tables_;
  std::vector<std::unique_ptr<std::vector<double>>> merged_;
};

}  // namespace twbn
