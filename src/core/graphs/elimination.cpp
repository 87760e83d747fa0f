#include "graphs/elimination.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace twbn {

namespace {

/// The graph that remains: adjacency as bit rows, for the fill-in tests, and as sorted lists.
class RemainingGraph {
 public:
  RemainingGraph(int n, std::span<const std::int32_t> edges)
      : n_words_((static_cast<std::size_t>(n) + 63) / 64),
        rows_(static_cast<std::size_t>(n) * n_words_, 0),
        neighbours_(static_cast<std::size_t>(n)) {
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
      if (edges[e] != edges[e + 1]) connect(edges[e], edges[e + 1]);
    }
  }

  bool adjacent(int u, int v) const {
    return (rows_[index(u, v)] >> (static_cast<unsigned>(v) % 64) & 1) != 0;
  }
  const std::vector<std::int32_t>& neighbours(int v) const {
    return neighbours_[static_cast<std::size_t>(v)];
  }
  int degree(int v) const { return static_cast<int>(neighbours(v).size()); }

  std::int64_t fill_in(int v) const {
    const auto& around = neighbours(v);
    std::int64_t missing = 0;
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        missing += adjacent(around[i], around[j]) ? 0 : 1;
      }
    }
    return missing;
  }

  /// Connects the neighbours of v pairwise and removes v. Returns whether an edge was added.
  bool eliminate(int v) {
    const std::vector<std::int32_t> around = neighbours(v);
    bool filled = false;
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        filled = connect(around[i], around[j]) || filled;
      }
    }
    for (const std::int32_t u : around) {
      auto& list = neighbours_[static_cast<std::size_t>(u)];
      list.erase(std::find(list.begin(), list.end(), v));
      rows_[index(u, v)] &= ~(std::uint64_t{1} << (static_cast<unsigned>(v) % 64));
    }
    return filled;
  }

 private:
  std::size_t index(int u, int v) const {
    return static_cast<std::size_t>(u) * n_words_ + static_cast<std::size_t>(v) / 64;
  }
  bool connect(int u, int v) {
    if (adjacent(u, v)) return false;
    rows_[index(u, v)] |= std::uint64_t{1} << (static_cast<unsigned>(v) % 64);
    rows_[index(v, u)] |= std::uint64_t{1} << (static_cast<unsigned>(u) % 64);
    neighbours_[static_cast<std::size_t>(u)].push_back(v);
    neighbours_[static_cast<std::size_t>(v)].push_back(u);
    return true;
  }
  std::size_t n_words_;
  std::vector<std::uint64_t> rows_;
  std::vector<std::vector<std::int32_t>> neighbours_;
};

}  // namespace

EliminationOrder greedy_elimination(int n, std::span<const std::int32_t> edges, Greedy rule,
                                    Random& random, int give_up_above, const Control& control) {
  RemainingGraph graph(n, edges);
  const auto cost = [&](int v) {
    return rule == Greedy::min_degree ? std::int64_t{graph.degree(v)} : graph.fill_in(v);
  };
  std::vector<std::int64_t> costs(static_cast<std::size_t>(n));
  std::vector<std::int32_t> left(static_cast<std::size_t>(n));
  for (int v = 0; v < n; ++v) {
    left[static_cast<std::size_t>(v)] = v;
    costs[static_cast<std::size_t>(v)] = cost(v);
  }
  std::vector<char> stale(static_cast<std::size_t>(n), 0);
  EliminationOrder result;
  while (!left.empty()) {
    std::int64_t least = costs[static_cast<std::size_t>(left[0])];
    for (const std::int32_t v : left) least = std::min(least, costs[static_cast<std::size_t>(v)]);
    std::uint32_t ties = 0;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {  // reservoir sampling among the ties
      if (costs[static_cast<std::size_t>(left[i])] != least) continue;
      if (random.below(++ties) == 0) chosen = i;
    }
    const std::int32_t v = left[chosen];
    left[chosen] = left.back();
    left.pop_back();
    result.order.push_back(v);
    result.width = std::max(result.width, graph.degree(v));
    if (control.expired()) result.width = std::max(result.width, give_up_above + 1);
    if (result.width > give_up_above) return result;

    const std::vector<std::int32_t> around = graph.neighbours(v);
    const bool filled = graph.eliminate(v);
    std::vector<std::int32_t> changed(around);
    if (filled && rule == Greedy::min_fill) {  // an added edge changes the fill of common neighbours
      for (const std::int32_t u : around) {
        stale[static_cast<std::size_t>(u)] = 1;
      }
      for (const std::int32_t u : around) {
        for (const std::int32_t w : graph.neighbours(u)) {
          if (!stale[static_cast<std::size_t>(w)]) {
            stale[static_cast<std::size_t>(w)] = 1;
            changed.push_back(w);
          }
        }
      }
    }
    for (const std::int32_t u : changed) {
      costs[static_cast<std::size_t>(u)] = cost(u);
      stale[static_cast<std::size_t>(u)] = 0;
    }
  }
  return result;
}

}  // namespace twbn
