#include "exact/live_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/numbers.h"
#include "base/random.h"

namespace twbn {

namespace {

/// Nodes that are branched on at a time: the same for any number of threads.
constexpr std::size_t nodes_at_a_time = 16;
/// Steps of all longest paths up to which a second thread would cost more than it gains.
constexpr std::size_t few_steps = 200'000;
/// A live graph is rebuilt for a node that reaches less than this share of it.
constexpr double rebuild_share = 0.9;
/// Obstructions among which one is chosen for a node.
constexpr int n_tries = 8;
/// Share of what is left to prove that counts as one level of the tree below a child.
constexpr double level_share = 0.3;
/// Bytes of a node, with its place in the tree and its share of costs.
constexpr double node_bytes = 700;
/// Share of the memory from which nodes near their end are taken first.
constexpr double short_share = 0.75;

}  // namespace

LiveSearch::LiveSearch(const ScoreIndex& index, std::span<const double> scores,
                       const WidthLimit& limit, double known, double tolerance,
                       ClusterPrices prices, std::int64_t max_bytes, bool record,
                       int n_jobs)
    : index_(index),
      scores_(scores),
      limit_(limit),
      known_(known),
      tolerance_(tolerance),
      n_jobs_(n_jobs),
      prices_(std::move(prices)),
      least_(minus_infinity),
      max_bytes_(max_bytes),
      record_(record),
      root_bound_(-minus_infinity) {
  const int n = index.n_variables();
  costs_.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1) / 2 + 1);
}

double LiveSearch::bound() const {
  if (nodes_.empty()) return n_nodes_ ? known_ : root_bound_;
  return std::max(known_, nodes_.begin()->second.bound + offset_);
}

LiveStatus LiveSearch::run(Control& control) {
  auto root = std::make_unique<LiveGraph>();
  const LiveOutcome outcome = build(*root, control);
  if (outcome == LiveOutcome::out_of_memory) return LiveStatus::out_of_memory;
  if (outcome == LiveOutcome::stopped) return LiveStatus::stopped;
  if (!start(std::move(root), control)) return LiveStatus::solved;
  while (!nodes_.empty()) {
    take_from_elsewhere();
    if (control.expired()) return LiveStatus::stopped;
    if (used_bytes() > static_cast<double>(max_bytes_)) return LiveStatus::out_of_memory;
    std::vector<Node> nodes = take();
    if (nodes.empty()) break;
    find_obstructions(nodes, control);
    std::vector<Trial> trials = try_all(nodes, control);
    if (control.expired()) {
      for (Node& node : nodes) keep(std::move(node));
      return LiveStatus::stopped;
    }
    std::size_t first = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::size_t last = first;
      while (last < trials.size() && trials[last].node == i) ++last;
      settle(nodes[i], std::span(trials).subspan(first, last - first));
      first = last;
    }
    n_nodes_ += static_cast<std::int64_t>(nodes.size());
    control.done.store(n_nodes_);
    control.best.store(bound());
  }
  return LiveStatus::solved;
}

LiveOutcome LiveSearch::build(LiveGraph& graph, Control& control) {
  const double wanted = known_ + tolerance_;
  offset_ = collect_families(index_, scores_, limit_.k(), wanted, prices_, graph);
  least_ = wanted - offset_;
  if (prices_.clusters.empty()) return build_by_tables(least_, max_bytes_, n_jobs_, control, graph);
  return build_by_prices(prices_, least_, max_bytes_, n_jobs_, control, graph);
}

// The root: its longest path is the best structure without a limit. False if that is the answer.
bool LiveSearch::start(std::unique_ptr<LiveGraph> graph, Control& control) {
  LongestPath path;
  n_nodes_ = 1;
  if (path.run(*graph, EdgeSet{}, least_) == minus_infinity) {
    root_bound_ = known_;
    return false;
  }
  Node root;
  root.graph = counted(path.shrunk());
  graph.reset();
  root.bound = path.run(*root.graph, EdgeSet{}, least_);
  root_bound_ = root.bound + offset_;
  root.edges = path.edges();
  root.number = n_numbers_++;
  n_live_ = static_cast<std::int64_t>(root.graph->subsets.size());
  SmallTreewidth decision(limit_);
  if (decision.within_limit(root.edges.graph())) {
    improve(root.bound, path.families());
    return false;
  }
  measure_costs(root, control);
  keep(std::move(root));
  return true;
}

// What the loss of each pair of the best structure costs: it decides which obstructions are found.
void LiveSearch::measure_costs(const Node& root, Control& control) {
  std::vector<Node> nodes(1, root);
  root.edges.each([&](int edge) { nodes[0].open.push_back(edge); });
  for (const Trial& trial : try_all(nodes, control)) learn_cost(root, trial);
}

std::vector<LiveSearch::Node> LiveSearch::take() {
  std::vector<Node> result;
  const bool last = used_bytes() > short_share * static_cast<double>(max_bytes_);
  while (!nodes_.empty() && result.size() < nodes_at_a_time) {
    const auto place = last ? std::prev(nodes_.end()) : nodes_.begin();
    if (place->second.bound < least_) {  // a better structure was found since
      if (!last) {
        nodes_.clear();
        break;
      }
      nodes_.erase(place);
      continue;
    }
    result.push_back(std::move(place->second));
    nodes_.erase(place);
  }
  return result;
}

void LiveSearch::find_obstructions(std::vector<Node>& nodes, Control& control) {
  for_each_unit(
      static_cast<std::int64_t>(nodes.size()), nodes.size() < 4 ? 1 : n_jobs_.load(), control,
      [&] { return SmallTreewidth(limit_); },
      [&](std::int64_t i, SmallTreewidth& decision) {
        Node& node = nodes[at(i)];
        node.open = obstruction(node, decision);
      },
      [](SmallTreewidth&) {});
}

// Several obstructions, of which the one with the smallest subtree, judged by what the loss of its
// pairs cost before, is taken: forbidding a pair that costs much leaves little to do.
std::vector<int> LiveSearch::obstruction(const Node& node, SmallTreewidth& decision) const {
  std::vector<int> best;
  double least_size = infinity;
  Random random(static_cast<std::uint64_t>(node.number));
  for (int i = 0; i < n_tries; ++i) {
    std::vector<int> found = shrunk_edges(node, i == 0 ? nullptr : &random, decision);
    double size = 0;
    const double level = std::max(level_share * (node.bound - least_), 1e-9);
    for (const int edge : found) size += std::exp(-cost(edge, node) / level);
    if (size < least_size) {
      least_size = size;
      best = std::move(found);
    }
  }
  return best;
}

// Take out pairs, those whose loss costs least first, as long as the rest stays beyond the limit;
// return those that are needed. With random numbers, costs are varied by half.
std::vector<int> LiveSearch::shrunk_edges(const Node& node, Random* random,
                                          SmallTreewidth& decision) const {
  std::vector<std::pair<double, int>> open;
  node.edges.each([&](int edge) {
    if (node.kept.has(edge)) return;
    const double share = random ? 0.5 + static_cast<double>(random->below(1000)) / 1000.0 : 1.0;
    open.emplace_back(share * cost(edge, node), edge);
  });
  std::stable_sort(open.begin(), open.end());
  EdgeSet all = node.edges;
  all.add(node.kept);
  SmallGraph graph = all.graph();
  std::vector<int> needed;
  for (const auto& [_, edge] : open) {
    const auto [u, v] = EdgeSet::pair(edge);
    graph.remove_edge(u, v);
    if (decision.within_limit(graph)) {
      graph.add_edge(u, v);
      needed.push_back(edge);
    }
  }
  return needed;
}

std::vector<LiveSearch::Trial> LiveSearch::try_all(const std::vector<Node>& nodes,
                                                   Control& control) {
  std::vector<Trial> trials;
  std::size_t n_steps = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const int edge : nodes[i].open) trials.push_back({.node = i, .edge = edge});
    n_steps += nodes[i].open.size() * nodes[i].graph->steps.size();
  }
  struct Scratch {
    explicit Scratch(const WidthLimit& limit) : decision(limit) {}
    LongestPath path;
    SmallTreewidth decision;
  };
  for_each_unit(
      static_cast<std::int64_t>(trials.size()), n_steps < few_steps ? 1 : n_jobs_.load(), control,
      [&] { return Scratch(limit_); },
      [&](std::int64_t i, Scratch& scratch) {
        Trial& trial = trials[at(i)];
        const Node& node = nodes[trial.node];
        EdgeSet forbidden = node.forbidden;
        forbidden.add(trial.edge);
        LongestPath& path = scratch.path;
        trial.bound = path.run(*node.graph, forbidden, least_);
        if (trial.bound == minus_infinity) return;
        trial.edges = path.edges();
        trial.narrow = scratch.decision.within_limit(trial.edges.graph());
        if (trial.narrow) {
          trial.families = path.families();
          return;
        }
        const auto size = static_cast<double>(node.graph->subsets.size());
        const bool small = static_cast<double>(path.n_reached()) < rebuild_share * size;
        trial.graph = small ? counted(path.shrunk()) : node.graph;
      },
      [](Scratch&) {});
  return trials;
}

// Branch: children that are done first, so that all others keep their pairs, then the others, the
// worst first, so that the most promising one keeps most.
void LiveSearch::settle(const Node& node, std::span<Trial> trials) {
  for (const Trial& trial : trials) learn_cost(node, trial);
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial& a, const Trial& b) {
                     const bool a_done = a.narrow || a.bound == minus_infinity;
                     const bool b_done = b.narrow || b.bound == minus_infinity;
                     return a_done != b_done ? a_done : a.bound < b.bound;
                   });
  auto costs = std::make_shared<std::vector<float>>(
      node.costs ? *node.costs : std::vector<float>(costs_.size(), -1.0F));
  for (const Trial& trial : trials) {
    (*costs)[at(trial.edge)] = static_cast<float>(node.bound - std::max(trial.bound, least_));
  }
  Branching branching{node.number, {}};
  EdgeSet kept = node.kept;
  for (Trial& trial : trials) {
    std::int64_t number = -1;
    if (trial.narrow) {
      improve(trial.bound, trial.families);
    } else if (trial.bound != minus_infinity) {
      Node child;
      child.forbidden = node.forbidden;
      child.forbidden.add(trial.edge);
      child.kept = kept;
      child.edges = trial.edges;
      child.costs = costs;
      child.bound = trial.bound;
      child.graph = std::move(trial.graph);
      child.number = number = n_numbers_++;
      keep(std::move(child));
    }
    kept.add(trial.edge);
    if (record_) branching.children.push_back({trial.edge, trial.bound + offset_, number});
  }
  if (record_) branchings_.push_back(std::move(branching));
}

void LiveSearch::keep(Node node) {
  const Key key{-node.bound, node.number};
  nodes_.emplace(key, std::move(node));
}

void LiveSearch::learn_cost(const Node& node, const Trial& trial) {
  Cost& cost = costs_[at(trial.edge)];
  cost.sum += node.bound - std::max(trial.bound, least_);
  ++cost.times;
}

// What the loss of a pair cost at the nearest node above that tried it, or on the average.
double LiveSearch::cost(int edge, const Node& node) const {
  const float above = node.costs ? (*node.costs)[at(edge)] : -1.0F;
  if (above >= 0) return static_cast<double>(above);
  const Cost& known = costs_[at(edge)];
  return known.times ? known.sum / known.times : 0.0;
}

void LiveSearch::improve(double value, const std::vector<std::int64_t>& families) {
  if (value < least_) return;
  best_families_ = families;
  known_ = value + offset_;
  least_ = value + tolerance_;
}

// A better structure that was found elsewhere takes the place of the best one.
void LiveSearch::take_from_elsewhere() {
  const double score = elsewhere_.load();
  if (score <= known_) return;
  best_families_.clear();
  known_ = score;
  least_ = known_ + tolerance_ - offset_;
}

std::shared_ptr<const LiveGraph> LiveSearch::counted(std::shared_ptr<const LiveGraph> graph) {
  const auto bytes = static_cast<std::int64_t>(graph->bytes());
  *graph_bytes_ += bytes;
  const LiveGraph* raw = graph.get();
  return {raw, [graph = std::move(graph), bytes, count = graph_bytes_](const LiveGraph*) {
            *count -= bytes;
          }};
}

double LiveSearch::used_bytes() const {
  return static_cast<double>(*graph_bytes_) +
         static_cast<double>(nodes_.size()) * node_bytes;
}

}  // namespace twbn
