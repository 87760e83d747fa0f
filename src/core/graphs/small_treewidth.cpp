#include "graphs/small_treewidth.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/numbers.h"

namespace twbn {

namespace {

std::uint32_t& around(SmallGraph& graph, int v) {
  return graph.neighbours[static_cast<std::size_t>(v)];
}

// The neighbours of a vertex that, left out, leave a clique: all of them (all bits) if they are a
// clique, or those of which each is the only one that is not adjacent to all others.
std::uint32_t odd_ones(const SmallGraph& graph, std::uint32_t members) {
  std::uint32_t odd = ~std::uint32_t{0};
  for (std::uint32_t rest = members; rest; rest &= rest - 1) {
    const int u = std::countr_zero(rest);
    const std::uint32_t lacking =
        members & ~(graph.neighbours[static_cast<std::size_t>(u)] | bit(u));
    if (!lacking) continue;
    // A pair that is missing needs one of its two ends to be left out.
    odd &= std::popcount(lacking) == 1 ? lacking | bit(u) : bit(u);
    if (!odd) return 0;
  }
  return odd;
}

constexpr std::uint32_t is_clique = ~std::uint32_t{0};

}  // namespace

bool SmallTreewidth::within_limit(const SmallGraph& graph) {
  SmallGraph rest = graph;
  order_.clear();
  const Verdict verdict = reduced(rest);
  if (verdict != Verdict::open) return verdict == Verdict::yes;
  if (degeneracy_exceeds(rest)) return false;
  failed_.clear();
  return eliminable(rest);
}

bool SmallTreewidth::fits(std::uint32_t bag) const {
  if (std::popcount(bag) > k_ + 1) return false;
  if (!limit_.limits_states()) return true;
  double states = 1;
  for (; bag; bag &= bag - 1) states *= limit_.n_states(std::countr_zero(bag));
  return states <= limit_.max_states();
}

// Whether an almost simplicial vertex can be eliminated without loss.
bool SmallTreewidth::is_safe(const SmallGraph& graph, int v, std::uint32_t odd) const {
  if (!limit_.limits_states()) return true;
  for (odd &= graph.neighbours[static_cast<std::size_t>(v)]; odd; odd &= odd - 1) {
    if (limit_.n_states(std::countr_zero(odd)) <= limit_.n_states(v)) return true;
  }
  return false;
}

// Make the neighbours of a vertex a clique and take the vertex away.
void SmallTreewidth::eliminate(SmallGraph& graph, int v) {
  const std::uint32_t clique = around(graph, v);
  for (std::uint32_t rest = clique; rest; rest &= rest - 1) {
    const int u = std::countr_zero(rest);
    around(graph, u) = (around(graph, u) | clique) & ~(bit(u) | bit(v));
  }
  graph.vertices &= ~bit(v);
  around(graph, v) = 0;
  order_.push_back(v);
}

SmallTreewidth::Verdict SmallTreewidth::reduced(SmallGraph& graph) {
  for (bool changed = true; changed;) {
    changed = false;
    if (fits(graph.vertices)) {
      while (graph.vertices) eliminate(graph, std::countr_zero(graph.vertices));
      return Verdict::yes;
    }
    for (std::uint32_t rest = graph.vertices; rest; rest &= rest - 1) {
      const int v = std::countr_zero(rest);
      const std::uint32_t members = around(graph, v);
      const std::uint32_t odd = odd_ones(graph, members);
      const bool fitting = fits(members | bit(v));
      if (odd == is_clique && !fitting) return Verdict::no;
      if (!odd || !fitting || (odd != is_clique && !is_safe(graph, v, odd))) continue;
      eliminate(graph, v);
      changed = true;
    }
  }
  return Verdict::open;
}

// Whether some minor has least degree above k: contract a vertex of least degree into the
// neighbour with which it shares fewest neighbours, again and again.
bool SmallTreewidth::degeneracy_exceeds(SmallGraph graph) const {
  while (graph.vertices) {
    int least = 33, v = 0;
    for (std::uint32_t rest = graph.vertices; rest; rest &= rest - 1) {
      const int u = std::countr_zero(rest);
      const int degree = std::popcount(around(graph, u));
      if (degree < least) least = degree, v = u;
    }
    if (least > k_) return true;
    int into = -1, fewest = 33;
    for (std::uint32_t rest = around(graph, v); rest; rest &= rest - 1) {
      const int u = std::countr_zero(rest);
      const int common = std::popcount(around(graph, u) & around(graph, v));
      if (common < fewest) fewest = common, into = u;
    }
    const std::uint32_t members = around(graph, v);
    for (std::uint32_t rest = members; rest; rest &= rest - 1) {
      around(graph, std::countr_zero(rest)) &= ~bit(v);
    }
    graph.vertices &= ~bit(v);
    around(graph, v) = 0;
    if (into < 0) continue;
    const std::uint32_t gained = members & ~bit(into);
    around(graph, into) |= gained;
    for (std::uint32_t rest = gained; rest; rest &= rest - 1) {
      around(graph, std::countr_zero(rest)) |= bit(into);
    }
  }
  return false;
}

bool SmallTreewidth::eliminable(SmallGraph graph) {
  const Verdict verdict = reduced(graph);
  if (verdict != Verdict::open) return verdict == Verdict::yes;
  const int n = std::popcount(graph.vertices);
  int n_ends = 0;
  std::array<std::pair<int, int>, 32> candidates;
  std::size_t n_candidates = 0;
  for (std::uint32_t rest = graph.vertices; rest; rest &= rest - 1) {
    const int v = std::countr_zero(rest);
    const std::uint32_t members = around(graph, v);
    const int degree = std::popcount(members);
    n_ends += degree;
    if (!fits(members | bit(v))) continue;
    int lacking = 0;
    for (std::uint32_t others = members; others; others &= others - 1) {
      lacking += std::popcount(members & ~around(graph, std::countr_zero(others))) - 1;
    }
    candidates[n_candidates++] = {lacking, v};
  }
  if (n_ends / 2 > k_ * n - k_ * (k_ + 1) / 2) return false;
  if (!failed_.insert(graph.vertices).second) return false;
  std::sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_candidates));
  const std::size_t done = order_.size();
  for (std::size_t i = 0; i < n_candidates; ++i) {
    SmallGraph next = graph;
    order_.resize(done);
    eliminate(next, candidates[i].second);
    if (eliminable(next)) return true;
  }
  return false;
}

}  // namespace twbn
