// Scored parent sets of one child while they are being found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twbn {

struct ScoredSets;

/// Parent sets with their scores, grouped by size.
class FamilyList {
 public:
  void add(double score, std::span<const std::int32_t> parents);
  void append(const FamilyList& other);
  void drop_size(int size);
  std::size_t n_sets() const;

  /// What one set costs here and in the sorted result together.
  static std::int64_t bytes_per_set(int size) { return 2 * (16 + 6 * size) + 16; }

  struct BySize {
    std::vector<double> scores;
    std::vector<std::uint16_t> parents;
  };
  const std::vector<BySize>& by_size() const { return by_size_; }
  void clear() { by_size_ = {}; }

 private:
  std::vector<BySize> by_size_;
};

/// Sort every child's sets (score descending, then size, then members) into `result`.
void sort_families(std::vector<FamilyList>& lists, int n_jobs, ScoredSets& result);

}  // namespace twbn
