// A directed acyclic graph that changes over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twbn {

/// Parents of every vertex, with a topological order that is kept up to date: whether new parents
/// close a cycle is decided by looking only at the part of the order between child and parents
/// (Pearce and Kelly, 2006).
class DynamicDag {
 public:
  DynamicDag(int n, int max_parents);

  int n_vertices() const { return static_cast<int>(place_.size()); }
  /// Ascending.
  std::span<const std::int32_t> parents(int v) const {
    return {parents_.data() + static_cast<std::size_t>(v) * stride_,
            static_cast<std::size_t>(n_parents_[static_cast<std::size_t>(v)])};
  }
  /// Give `child` other parents; false, and no change, when that would close a cycle.
  bool set_parents(std::int32_t child, std::span<const std::int32_t> parents);
  /// Is `a` before `b` in the topological order?
  bool before(std::int32_t a, std::int32_t b) const { return place(a) < place(b); }
  /// `vertices` and their ancestors, restricted to those after `v` in the order.
  void ancestors_after(std::int32_t v, std::span<const std::int32_t> vertices,
                       std::vector<std::int32_t>& found);

 private:
  struct Child {
    std::int32_t vertex;
    std::int32_t slot;  // which of its parents this is
  };
  std::int32_t place(std::int32_t v) const { return place_[static_cast<std::size_t>(v)]; }
  bool collect_ancestors(std::int32_t child, std::span<const std::int32_t> parents);
  void reorder(std::int32_t child);
  void unlink(std::int32_t child);

  std::size_t stride_;
  std::vector<std::int32_t> parents_;
  std::vector<std::int32_t> n_parents_;
  std::vector<std::int32_t> at_;  // where a child stands in the list of each of its parents
  std::vector<std::vector<Child>> children_;
  std::vector<std::int32_t> place_;  // in the topological order
  // Scratch.
  std::vector<std::int32_t> before_, after_, places_;
  std::vector<char> seen_;
};

}  // namespace twbn
