// Look-up of a family's score among those of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twbn {

/// Hash of (child, parents); parents ascending.
std::uint64_t family_hash(int child, std::span<const std::int32_t> parents);

/// An open-addressing hash over the sets of a score table, whose arrays it refers to (it does not
/// own them). Building costs O(number of sets); a look-up O(|parents|).
class ScoreIndex {
 public:
  ScoreIndex(std::span<const std::int64_t> variable_offsets, std::span<const double> scores,
             std::span<const std::int64_t> set_offsets, std::span<const std::int32_t> parents);

  int n_variables() const { return static_cast<int>(variable_offsets_.size()) - 1; }
  /// Position of the family among all sets, or -1.
  std::int64_t find(int child, std::span<const std::int32_t> parents) const;
  /// Score of the family, or minus infinity when the table does not have it.
  double score(int child, std::span<const std::int32_t> parents) const;

  std::span<const std::int64_t> variable_offsets() const { return variable_offsets_; }
  std::span<const double> scores() const { return scores_; }
  std::span<const std::int32_t> parents(std::int64_t set) const {
    const auto first = static_cast<std::size_t>(set_offsets_[static_cast<std::size_t>(set)]);
    const auto last = static_cast<std::size_t>(set_offsets_[static_cast<std::size_t>(set) + 1]);
    return parents_.subspan(first, last - first);
  }
  /// Position of a family that occurs a second time, or -1.
  std::int64_t duplicate() const { return duplicate_; }

 private:
  std::span<const std::int64_t> variable_offsets_;
  std::span<const double> scores_;
  std::span<const std::int64_t> set_offsets_;
  std::span<const std::int32_t> parents_;
  std::vector<std::int64_t> slots_;
  std::vector<std::uint32_t> tags_;
  std::uint64_t mask_ = 0;
  std::int64_t duplicate_ = -1;
};

}  // namespace twbn
