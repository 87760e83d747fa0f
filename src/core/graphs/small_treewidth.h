// Is the treewidth of a small graph at most k? For graphs of at most 32 vertices, as bit masks.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>

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

/// Decides whether the treewidth is at most k.
///
/// Vertices are eliminated: first those whose elimination is safe (simplicial, and almost
/// simplicial of degree at most k; Bodlaender and others, 2006), then, unless the contraction
/// degeneracy says no or greedy elimination says yes, every other one of degree at most k in turn.
/// What is left depends on which vertices are gone, not on their order, so a set that failed is
/// never tried twice. Exponential in the number of vertices that the safe rules leave.
class SmallTreewidth {
 public:
  bool at_most(const SmallGraph& graph, int k);

 private:
  enum class Verdict { yes, no, open };
  static Verdict reduced(SmallGraph& graph, int k);
  static bool degeneracy_exceeds(SmallGraph graph, int k);
  bool eliminable(SmallGraph graph, int k);

  std::unordered_set<std::uint32_t> failed_;
};

}  // namespace twbn
