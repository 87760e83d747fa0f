// A proof of bounded width that is kept up to date while its graph changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "annealing/moral_multigraph.h"
#include "base/random.h"
#include "graphs/width_limit.h"

namespace twbn {

/// An elimination forest of a graph, with bags within a limit: of width at most k and, if states are
/// limited, of at most so many joint states.
///
/// Vertex v is a child of parent(v). The set upper(v), at most k of its ancestors, holds the
/// neighbours that v has when it is eliminated; parent(v) is the lowest of them. The bags
/// {v} ∪ upper(v) form a tree decomposition. When edges are added, only the paths between their
/// ends are rearranged: the subtrees attached to the paths, and the vertices above, are represented
/// by the cliques that attach them (the torso of the paths). The cost depends on the paths, not on
/// the graph. When edges are removed, upper(v) may be larger than needed until `tighten`.
class EliminationForest {
 public:
  using Pair = std::pair<std::int32_t, std::int32_t>;

  /// The limit must outlive the forest.
  EliminationForest(const MoralMultigraph& graph, const WidthLimit& limit);

  /// Start from an order of elimination of the graph; false if a bag exceeds the limit.
  bool build(std::span<const std::int32_t> order);
  bool covers(std::int32_t a, std::int32_t b) const { return above(a, b) || above(b, a); }
  /// Rearrange the forest to cover pairs that are new in the graph, first along the paths, then by
  /// `rebuild` as long as that has cost no more than the paths. Returns false, and changes nothing,
  /// if no arrangement was found.
  bool admit(std::span<const Pair> pairs, Random& random);
  /// Shrink every upper(v) to what is needed after edges were removed. O(n·k).
  void tighten();
  /// Update a copy of the forest, given by parents, with the changes since the last call.
  void copy_changes(std::vector<std::int32_t>& parents);
  /// An order of elimination of the graph.
  std::vector<std::int32_t> order() const { return order_of(parent_); }
  /// An order of elimination: the vertices of a forest, given by parents, children first.
  static std::vector<std::int32_t> order_of(std::span<const std::int32_t> parents);

 private:
  static constexpr int max_words = 16;  // a torso has at most 64 times as many vertices

  std::int32_t* upper(std::int32_t v) {
    return upper_.data() + static_cast<std::size_t>(v) * static_cast<std::size_t>(k_);
  }
  const std::int32_t* upper(std::int32_t v) const {
    return upper_.data() + static_cast<std::size_t>(v) * static_cast<std::size_t>(k_);
  }
  std::span<const std::int32_t> uppers(std::int32_t v) const {
    return {upper(v), static_cast<std::size_t>(n_upper_[static_cast<std::size_t>(v)])};
  }
  bool above(std::int32_t v, std::int32_t a) const {
    for (const std::int32_t u : uppers(v)) {
      if (u == a) return true;
    }
    return false;
  }
  void attach(std::int32_t v, std::int32_t parent);
  void detach(std::int32_t v);
  void collect_paths(std::span<const Pair> pairs);
  void add_path(std::int32_t end);
  bool rearrange(Random& random);
  template <int words>
  bool eliminate_torso(Random& random);
  void splice();
  bool rebuild(Random& random);

  const MoralMultigraph& graph_;
  const WidthLimit& limit_;
  int n_;
  int k_;
  std::vector<std::int32_t> upper_;
  std::vector<std::int32_t> n_upper_;
  std::vector<std::int32_t> parent_;
  std::vector<std::int32_t> first_child_, next_, previous_;
  std::vector<std::int32_t> changed_;  // vertices with another parent than at `copy_changes`
  std::vector<char> is_changed_;
  // Scratch: the paths (their top, or -1 where they end in several roots), and their torso.
  std::vector<std::int32_t> paths_;
  std::int32_t top_ = -1;
  std::vector<std::int32_t> from_end_, from_top_;
  std::vector<char> mark_;             // 1: on the paths; 2, 3: while they are searched for
  std::vector<std::int32_t> local_;    // a vertex's number in the torso
  std::vector<std::int32_t> torso_;    // the paths, then what is above them
  std::vector<std::uint64_t> rows_;
  std::vector<std::int32_t> sequence_;          // torso numbers in the order of elimination
  std::vector<std::uint64_t> eliminated_rows_;  // their neighbours then
  std::vector<std::int32_t> rank_;              // by torso number
  std::int64_t path_cost_ = 0;
  std::int64_t rebuild_cost_ = 0;
};

}  // namespace twbn
