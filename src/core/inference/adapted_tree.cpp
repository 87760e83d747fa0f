#include "inference/adapted_tree.h"

#include <algorithm>
#include <utility>

#include "inference/bag_tree.h"
#include "inference/calibration.h"
#include "inference/weighted_order.h"

namespace twbn {

namespace {

// The members of a variable's family that are not known.
std::vector<std::int32_t> open_family(const Factors& factors, std::int32_t v,
                                      std::span<const std::int32_t> codes) {
  std::vector<std::int32_t> result;
  for (const std::int32_t p : factors.parents(v)) {
    if (codes[at(p)] < 0) result.push_back(p);
  }
  if (codes[at(v)] < 0) result.push_back(v);
  return result;
}

// Eliminates vertices and gathers their bags; a bag that is part of the one before it is that one.
class Bags {
 public:
  Bags(Adjacency graph, std::span<const std::int32_t> order);

  std::size_t n_bags() const { return bags_.size(); }
  std::vector<std::int32_t> take(std::size_t bag) { return std::move(bags_[bag]); }
  /// The bag of a vertex, and the bag next to it on the way to the root, or -1.
  std::int32_t bag_of(std::int32_t v) const { return bag_of_[at(v)]; }
  std::int32_t next_to(std::size_t bag) const {
    const std::int32_t above = parent_[at(top_[bag])];
    return above < 0 ? -1 : bag_of_[at(above)];
  }
  std::int32_t rank(std::int32_t v) const { return rank_[at(v)]; }

 private:
  std::vector<std::vector<std::int32_t>> bags_;
  std::vector<std::int32_t> top_;     // of each bag, the last vertex that shares it
  std::vector<std::int32_t> bag_of_, parent_, rank_;
};

Bags::Bags(Adjacency graph, std::span<const std::int32_t> order)
    : bag_of_(graph.size(), -1), parent_(graph.size(), -1), rank_(graph.size()) {
  for (std::size_t i = 0; i < order.size(); ++i) rank_[at(order[i])] = static_cast<std::int32_t>(i);
  const auto earlier = [&](std::int32_t a, std::int32_t b) { return rank_[at(a)] < rank_[at(b)]; };
  std::vector<std::int32_t> merged;
  for (const std::int32_t v : order) {  // only later neighbours are left in the lists
    const std::vector<std::int32_t> around = std::move(graph[at(v)]);
    if (bag_of_[at(v)] < 0) {
      bag_of_[at(v)] = static_cast<std::int32_t>(bags_.size());
      top_.push_back(v);
      bags_.push_back(around);
      bags_.back().insert(std::lower_bound(bags_.back().begin(), bags_.back().end(), v), v);
    } else {
      top_[at(bag_of_[at(v)])] = v;
    }
    if (around.empty()) continue;
    const std::int32_t above = *std::min_element(around.begin(), around.end(), earlier);
    parent_[at(v)] = above;
    for (const std::int32_t u : around) {
      auto& mine = graph[at(u)];
      merged.clear();
      std::set_union(mine.begin(), mine.end(), around.begin(), around.end(),
                     std::back_inserter(merged));
      std::erase_if(merged, [&](std::int32_t w) { return w == u || w == v; });
      mine.assign(merged.begin(), merged.end());
    }
    const bool same = graph[at(above)].size() + 1 == around.size();
    if (same && bag_of_[at(above)] < 0) bag_of_[at(above)] = bag_of_[at(v)];
  }
}

}  // namespace

TreeShape tree_shape(const Factors& factors, std::span<const std::int32_t> codes, double seconds,
                     const Control& control) {
  TreeShape shape;
  std::vector<std::int32_t> local(codes.size(), -1), variables;
  std::vector<double> n_states;
  for (std::size_t v = 0; v < codes.size(); ++v) {
    if (codes[v] >= 0) continue;
    local[v] = static_cast<std::int32_t>(variables.size());
    variables.push_back(static_cast<std::int32_t>(v));
    n_states.push_back(factors.n_states(static_cast<std::int32_t>(v)));
  }
  Adjacency graph(variables.size());
  std::vector<std::vector<std::int32_t>> families;
  for (std::int32_t v = 0; v < factors.n_variables(); ++v) {
    families.push_back(open_family(factors, v, codes));
    for (const std::int32_t a : families.back()) {
      for (const std::int32_t b : families.back()) {
        if (a != b) graph[at(local[at(a)])].push_back(local[at(b)]);
      }
    }
  }
  for (auto& around : graph) {
    std::sort(around.begin(), around.end());
    around.erase(std::unique(around.begin(), around.end()), around.end());
  }
  const std::vector<char> last(variables.size());
  const auto order = best_order(graph, n_states, last, 0, seconds, control).order;
  Bags bags(std::move(graph), order);
  for (const auto& family : families) {
    std::int32_t first = -1;
    for (const std::int32_t u : family) {
      const std::int32_t mine = local[at(u)];
      if (first < 0 || bags.rank(mine) < bags.rank(first)) first = mine;
    }
    shape.home.push_back(first < 0 ? -1 : bags.bag_of(first));
  }
  // From the roots outwards; all roots but the first hang from the first.
  std::vector<std::vector<std::int32_t>> below(bags.n_bags());
  shape.parent.assign(bags.n_bags(), -1);
  std::int32_t root = -1;
  for (std::size_t b = bags.n_bags(); b-- > 0;) {
    shape.parent[b] = bags.next_to(b);
    if (shape.parent[b] < 0 && root >= 0) shape.parent[b] = root;
    if (shape.parent[b] < 0) {
      root = static_cast<std::int32_t>(b);
    } else {
      below[at(shape.parent[b])].push_back(static_cast<std::int32_t>(b));
    }
  }
  if (root >= 0) shape.order.push_back(root);
  for (std::size_t i = 0; i < shape.order.size(); ++i) {
    const auto& next = below[at(shape.order[i])];
    shape.order.insert(shape.order.end(), next.begin(), next.end());
  }
  for (std::size_t b = 0; b < bags.n_bags(); ++b) {
    double entries = 1;
    std::vector<std::int32_t> bag;
    for (const std::int32_t v : bags.take(b)) {
      entries *= n_states[at(v)];
      bag.push_back(variables[at(v)]);
    }
    shape.n_entries += entries;
    shape.bags.push_back(std::move(bag));
  }
  return shape;
}

double adapted_marginals(const Factors& factors, const TreeShape& shape, const Evidence& evidence,
                         std::span<double> posteriors, const Control& control) {
  const BagTree tree(factors, shape.bags, shape.home, evidence.codes);
  const std::vector<std::int32_t> nothing(evidence.codes.size(), -1);
  double log = tree.log_scalars();
  if (log == minus_infinity) return log;
  if (shape.bags.empty()) {
    std::fill(posteriors.begin(), posteriors.end(), 0.0);
  } else {
    const Calibration calibration(tree, shape.order, shape.parent);
    log += calibration.marginals({nothing, evidence.likelihoods}, posteriors, control);
  }
  std::size_t offset = 0;
  for (std::int32_t v = 0; v < factors.n_variables(); ++v) {
    const std::int32_t code = evidence.codes[at(v)];
    if (code >= 0) posteriors[offset + at(code)] = 1.0;
    offset += at(factors.n_states(v));
  }
  return log;
}

}  // namespace twbn
