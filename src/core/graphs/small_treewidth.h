// Has a small graph a tree decomposition within a limit? For at most 32 vertices, as bit masks.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "graphs/width_limit.h"

namespace twbn {

/// A graph on vertices 0 .. 31: which are there, and the neighbours of each.
struct SmallGraph {
  std::uint32_t vertices = 0;
  std::array<std::uint32_t, 32> neighbours{};

  void add_edge(int u, int v) {
    vertices |= std::uint32_t{1} << u | std::uint32_t{1} << v;
    neighbours[static_cast<std::size_t>(u)] |= std::uint32_t{1} << v;
    neighbours[static_cast<std::size_t>(v)] |= std::uint32_t{1} << u;
  }
  void remove_edge(int u, int v) {
    neighbours[static_cast<std::size_t>(u)] &= ~(std::uint32_t{1} << v);
    neighbours[static_cast<std::size_t>(v)] &= ~(std::uint32_t{1} << u);
  }
};

/// Decides whether a graph has a tree decomposition whose bags are within the limit.
///
/// Vertices are eliminated: first those whose elimination is safe (simplicial, and almost
/// simplicial with a bag within the limit; Bodlaender and others, 2006; where states are limited,
/// the neighbour that is not adjacent to all others must have no more states than the vertex, as
/// elimination contracts the edge between them: van den Eijkhof and others, 2007), then, unless the
/// contraction degeneracy says no or greedy elimination says yes, every other vertex with a bag
/// within the limit in turn. What is left depends on which vertices are gone, not on their order, so
/// a set that failed is never tried twice. Exponential in the number of vertices that the safe rules
/// leave.
class SmallTreewidth {
 public:
  /// The limit must outlive this.
  explicit SmallTreewidth(const WidthLimit& limit) : limit_(limit), k_(limit.k()) {}

  bool within_limit(const SmallGraph& graph);
  /// An order of elimination of the last graph that was within the limit.
  const std::vector<std::int32_t>& order() const { return order_; }

 private:
  enum class Verdict { yes, no, open };
  bool fits(std::uint32_t bag) const;
  bool is_safe(const SmallGraph& graph, int v, std::uint32_t ends) const;
  Verdict reduced(SmallGraph& graph);
  bool degeneracy_exceeds(SmallGraph graph) const;
  bool eliminable(SmallGraph graph);
  void eliminate(SmallGraph& graph, int v);

  const WidthLimit& limit_;
  int k_;
  std::vector<std::int32_t> order_;
  std::unordered_set<std::uint32_t> failed_;
};

}  // namespace twbn
