#include "bound/cut_search.h"

#include <algorithm>
#include <set>

#include "base/numbers.h"

namespace twbn {

namespace {

/// Tabu search over subsets of the vertices, one flip at a time. `gain(v)` says by how much the
/// violation grows when v is flipped.
template <class Gain, class Flip>
void tabu_search(int n, int n_steps, int tenure, Random& random, std::vector<int>& free_at,
                 Gain gain, Flip flip) {
  std::fill(free_at.begin(), free_at.end(), 0);
  for (int step = 1; step <= n_steps; ++step) {
    double most = minus_infinity;
    std::int32_t chosen = -1;
    std::uint32_t ties = 0;
    for (std::int32_t v = 0; v < n; ++v) {
      if (free_at[at(v)] > step) continue;
      const double g = gain(v);
      if (g > most + 1e-12) {
        most = g;
        chosen = v;
        ties = 1;
      } else if (g > most - 1e-12 && random.below(++ties) == 0) {
        chosen = v;
      }
    }
    if (chosen < 0) return;
    free_at[at(chosen)] = step + tenure;
    flip(chosen);
  }
}

std::vector<Cut> best_of(std::vector<Cut>& found, std::size_t max_cuts) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Cut& a, const Cut& b) { return a.violation > b.violation; });
  if (found.size() > max_cuts) found.resize(max_cuts);
  return std::move(found);
}

std::vector<std::int32_t> listed(const std::vector<char>& inside) {
  std::vector<std::int32_t> vertices;
  for (std::size_t v = 0; v < inside.size(); ++v) {
    if (inside[v]) vertices.push_back(static_cast<std::int32_t>(v));
  }
  return vertices;
}

/// The total weight of the families of K's members without a parent in K, updated as K is flipped.
class ClusterState {
 public:
  explicit ClusterState(const FractionalNetwork& network)
      : network_(network),
        inside(at(network.n)),
        n_inside_(network.child.size()),
        of_child_(at(network.n)),
        with_parent_(at(network.n)) {
    for (std::size_t t = 0; t < network.child.size(); ++t) {
      of_child_[at(network.child[t])].push_back(t);
      for (auto i = network.offsets[t]; i < network.offsets[t + 1]; ++i) {
        with_parent_[at(network.parents[at(i)])].push_back(t);
      }
    }
  }
  void clear() {
    std::fill(inside.begin(), inside.end(), char{0});
    std::fill(n_inside_.begin(), n_inside_.end(), 0);
    weight = 0;
    size = 0;
  }
  /// By how much the weight falls when v is flipped.
  double gain(std::int32_t v) const {
    double own = 0;
    for (const std::size_t t : of_child_[at(v)]) {
      if (n_inside_[t] == 0) own += network_.weight[t];
    }
    double others = 0;
    const int without = inside[at(v)] ? 1 : 0;  // families with no parent in K but for v
    for (const std::size_t t : with_parent_[at(v)]) {
      if (inside[at(network_.child[t])] && n_inside_[t] == without) others += network_.weight[t];
    }
    return inside[at(v)] ? own - others : others - own;
  }
  void flip(std::int32_t v) {
    weight -= gain(v);
    const int change = inside[at(v)] ? -1 : 1;
    for (const std::size_t t : with_parent_[at(v)]) n_inside_[t] += change;
    inside[at(v)] = inside[at(v)] ? 0 : 1;
    size += change;
  }

 private:
  const FractionalNetwork& network_;

 public:
  std::vector<char> inside;
  double weight = 0;
  int size = 0;

 private:
  std::vector<int> n_inside_;  // parents inside K, by family
  std::vector<std::vector<std::size_t>> of_child_;
  std::vector<std::vector<std::size_t>> with_parent_;
};

/// For every vertex, the shortest cycle through it, where an arc is shorter the more weight the
/// families containing it have: a cycle of length below one is a cluster whose cut is violated.
template <class Visit>
void for_each_short_cycle(const FractionalNetwork& network, const Control& control, Visit visit) {
  const std::size_t n = at(network.n);
  std::vector<double> length(n * n, 1.0);  // [parent * n + child]
  for (std::size_t t = 0; t < network.child.size(); ++t) {
    for (auto i = network.offsets[t]; i < network.offsets[t + 1]; ++i) {
      length[at(network.parents[at(i)]) * n + at(network.child[t])] -= network.weight[t];
    }
  }
  std::vector<double> distance(n);
  std::vector<std::int32_t> from(n);
  std::vector<char> done(n);
  for (std::size_t root = 0; root < n && !control.expired(); ++root) {
    std::fill(distance.begin(), distance.end(), infinity);
    std::fill(done.begin(), done.end(), char{0});
    distance[root] = 0;
    double best = 1;
    std::size_t last = n;
    for (;;) {
      std::size_t next = n;
      for (std::size_t v = 0; v < n; ++v) {
        if (!done[v] && distance[v] < best && (next == n || distance[v] < distance[next])) next = v;
      }
      if (next == n) break;
      done[next] = 1;
      if (next != root && distance[next] + length[next * n + root] < best) {
        best = distance[next] + std::max(length[next * n + root], 0.0);
        last = next;
      }
      for (std::size_t v = 0; v < n; ++v) {
        const double through = distance[next] + std::max(length[next * n + v], 0.0);
        if (!done[v] && through < distance[v]) {
          distance[v] = through;
          from[v] = static_cast<std::int32_t>(next);
        }
      }
    }
    if (last == n) continue;
    std::vector<std::int32_t> cycle{static_cast<std::int32_t>(root)};
    for (std::size_t v = last; v != root; v = at(from[v])) {
      cycle.push_back(static_cast<std::int32_t>(v));
    }
    visit(cycle);
  }
}

}  // namespace

std::vector<Cut> find_clusters(const FractionalNetwork& network, int n_steps, int tenure, double least,
                               std::size_t max_cuts, Random& random, const Control& control) {
  ClusterState state(network);
  std::vector<int> free_at(at(network.n));
  std::set<std::vector<std::int32_t>> seen;
  std::vector<Cut> found;
  for_each_short_cycle(network, control, [&](std::vector<std::int32_t>& cycle) {
    std::sort(cycle.begin(), cycle.end());
    state.clear();
    for (const std::int32_t v : cycle) state.flip(v);
    if (1 - state.weight >= least && seen.insert(cycle).second) {
      found.push_back({1 - state.weight, cycle});
    }
  });
  // From single vertices, which finds small clusters, and from all but one, which finds large ones.
  for (std::int32_t start = 0; start < 2 * network.n && !control.expired(); ++start) {
    const std::int32_t seed = start % network.n;
    state.clear();
    for (std::int32_t v = 0; v < network.n; ++v) {
      if ((v == seed) == (start < network.n)) state.flip(v);
    }
    Cut best{0, {}};
    tabu_search(
        network.n, n_steps, tenure, random, free_at, [&](std::int32_t v) { return state.gain(v); },
        [&](std::int32_t v) {
          state.flip(v);
          const double violation = 1 - state.weight;
          if (state.size < 2 || violation < best.violation + 1e-9) return;
          best = {violation, listed(state.inside)};
        });
    // One cluster per starting set: clusters that differ in a vertex or two are redundant.
    if (best.violation >= least && seen.insert(best.vertices).second) found.push_back(best);
  }
  return best_of(found, max_cuts);
}

std::vector<Cut> find_dense_sets(int n, std::span<const double> edges, int k, int n_steps,
                                 double least, std::size_t max_cuts, Random& random,
                                 const Control& control) {
  std::vector<char> inside(at(n));
  std::vector<double> to_inside(at(n));
  std::vector<int> free_at(at(n));
  std::set<std::vector<std::int32_t>> seen;
  std::vector<Cut> found;
  double weight = 0;
  int size = 0;
  const auto flip = [&](std::int32_t v) {
    const double sign = inside[at(v)] ? -1 : 1;
    weight += sign * to_inside[at(v)];
    for (std::int32_t u = 0; u < n; ++u) {
      to_inside[at(u)] += sign * edges[at(v) * at(n) + at(u)];
    }
    inside[at(v)] = inside[at(v)] ? 0 : 1;
    size += inside[at(v)] ? 1 : -1;
  };
  for (std::int32_t seed = 0; seed < n && !control.expired(); ++seed) {
    std::fill(inside.begin(), inside.end(), char{0});
    std::fill(to_inside.begin(), to_inside.end(), 0.0);
    weight = 0;
    size = 0;
    flip(seed);
    Cut best{0, {}};
    tabu_search(
        n, n_steps, 4, random, free_at,
        [&](std::int32_t v) {
          const double change = to_inside[at(v)] - k;
          return inside[at(v)] ? (size <= k + 2 ? -1e9 - change : -change) : change;
        },
        [&](std::int32_t v) {
          flip(v);
          if (size < k + 2) return;
          const double violation = weight - (k * size - k * (k + 1) / 2.0);
          if (violation < best.violation + 1e-9) return;
          best = {violation, listed(inside)};
        });
    if (best.violation >= least && seen.insert(best.vertices).second) found.push_back(best);
  }
  return best_of(found, max_cuts);
}

}  // namespace twbn
