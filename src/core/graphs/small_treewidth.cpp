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

// Make the neighbours of a vertex a clique and take the vertex away.
void eliminate(SmallGraph& graph, int v) {
  const std::uint32_t clique = around(graph, v);
  for (std::uint32_t rest = clique; rest; rest &= rest - 1) {
    const int u = std::countr_zero(rest);
    around(graph, u) = (around(graph, u) | clique) & ~(bit(u) | bit(v));
  }
  graph.vertices &= ~bit(v);
  around(graph, v) = 0;
}

// Whether the neighbours of a vertex are a clique (0), are one but for one of them (1), or not (2).
int distance_from_clique(const SmallGraph& graph, std::uint32_t members) {
  std::uint32_t all_but = ~std::uint32_t{0};  // those that may be the one
  bool clique = true;
  for (std::uint32_t rest = members; rest; rest &= rest - 1) {
    const int u = std::countr_zero(rest);
    const std::uint32_t lacking =
        members & ~(graph.neighbours[static_cast<std::size_t>(u)] | bit(u));
    if (!lacking) continue;
    clique = false;
    // A pair that is missing needs one of its two ends to be the one.
    all_but &= std::popcount(lacking) == 1 ? lacking | bit(u) : bit(u);
    if (!all_but) return 2;
  }
  return clique ? 0 : 1;
}

}  // namespace

bool SmallTreewidth::at_most(const SmallGraph& graph, int k) {
  SmallGraph rest = graph;
  const Verdict verdict = reduced(rest, k);
  if (verdict != Verdict::open) return verdict == Verdict::yes;
  if (degeneracy_exceeds(rest, k)) return false;
  failed_.clear();
  return eliminable(rest, k);
}

SmallTreewidth::Verdict SmallTreewidth::reduced(SmallGraph& graph, int k) {
  for (bool changed = true; changed;) {
    changed = false;
    if (std::popcount(graph.vertices) <= k + 1) return Verdict::yes;
    for (std::uint32_t rest = graph.vertices; rest; rest &= rest - 1) {
      const int v = std::countr_zero(rest);
      const std::uint32_t members = around(graph, v);
      const int degree = std::popcount(members);
      const int distance = degree <= 1 ? 0 : distance_from_clique(graph, members);
      if (distance == 0 && degree > k) return Verdict::no;
      if (distance == 2 || degree > k) continue;
      eliminate(graph, v);
      changed = true;
    }
  }
  return Verdict::open;
}

// Whether some minor has least degree above k: contract a vertex of least degree into the
// neighbour with which it shares fewest neighbours, again and again.
bool SmallTreewidth::degeneracy_exceeds(SmallGraph graph, int k) {
  while (graph.vertices) {
    int least = 33, v = 0;
    for (std::uint32_t rest = graph.vertices; rest; rest &= rest - 1) {
      const int u = std::countr_zero(rest);
      const int degree = std::popcount(around(graph, u));
      if (degree < least) least = degree, v = u;
    }
    if (least > k) return true;
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

bool SmallTreewidth::eliminable(SmallGraph graph, int k) {
  const Verdict verdict = reduced(graph, k);
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
    if (degree > k) continue;
    int lacking = 0;
    for (std::uint32_t others = members; others; others &= others - 1) {
      lacking += std::popcount(members & ~around(graph, std::countr_zero(others))) - 1;
    }
    candidates[n_candidates++] = {lacking, v};
  }
  if (n_ends / 2 > k * n - k * (k + 1) / 2) return false;
  if (!failed_.insert(graph.vertices).second) return false;
  std::sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_candidates));
  for (std::size_t i = 0; i < n_candidates; ++i) {
    SmallGraph next = graph;
    eliminate(next, candidates[i].second);
    if (eliminable(next, k)) return true;
  }
  return false;
}

}  // namespace twbn
