// The families that a structure which beats a known one can have.
#include <algorithm>

#include "base/numbers.h"
#include "exact/live_graph.h"

namespace twbn {

namespace {

std::uint32_t mask_of(std::span<const std::int32_t> members) {
  std::uint32_t mask = 0;
  for (const std::int32_t v : members) mask |= std::uint32_t{1} << v;
  return mask;
}

// What a family is worth at the prices of the clusters that it satisfies.
double priced(double score, int child, std::uint32_t parents, const ClusterPrices& prices) {
  for (std::size_t c = 0; c < prices.clusters.size(); ++c) {
    const std::uint32_t cluster = prices.clusters[c];
    if ((cluster >> child & 1) != 0 && (cluster & parents) == 0) score += prices.prices[c];
  }
  return score;
}

}  // namespace

double collect_families(const ScoreIndex& index, std::span<const double> scores, int k,
                        double least, const ClusterPrices& prices, LiveGraph& graph) {
  struct Family {
    std::int64_t position;
    std::uint32_t parents;
    double worth;
  };
  const auto offsets = index.variable_offsets();
  const auto n = at(index.n_variables());
  std::vector<std::vector<Family>> families(n);
  std::vector<double> top(n, minus_infinity), best_worth(n, minus_infinity);
  double offset = 0, bound = 0;
  for (const double price : prices.prices) bound -= price;
  for (std::size_t v = 0; v < n; ++v) {
    for (std::int64_t set = offsets[v]; set < offsets[v + 1]; ++set) {
      if (static_cast<int>(index.parents(set).size()) > k) continue;
      const double score = scores[at(set)];
      const std::uint32_t parents = mask_of(index.parents(set));
      const double worth = priced(score, static_cast<int>(v), parents, prices);
      families[v].push_back({set, parents, worth});
      top[v] = std::max(top[v], score);
      best_worth[v] = std::max(best_worth[v], worth);
    }
    offset += top[v];
    bound += best_worth[v];
  }
  graph.n = static_cast<int>(n);
  graph.family_offsets.assign(1, 0);
  for (std::size_t v = 0; v < n; ++v) {
    auto& own = families[v];
    std::erase_if(own, [&](const Family& f) { return bound - (best_worth[v] - f.worth) < least; });
    std::stable_sort(own.begin(), own.end(), [&](const Family& a, const Family& b) {
      return scores[at(a.position)] > scores[at(b.position)];
    });
    for (const Family& family : own) {
      graph.parents.push_back(family.parents);
      graph.values.push_back(scores[at(family.position)] - top[v]);
      graph.edges.emplace_back().add_family(static_cast<int>(v), family.parents);
      graph.positions.push_back(family.position);
    }
    graph.family_offsets.push_back(static_cast<std::uint32_t>(graph.parents.size()));
  }
  return offset;
}

}  // namespace twbn
