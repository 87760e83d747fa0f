// Branching on moral edges over live subsets: the best structure of bounded treewidth, proved.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/random.h"
#include "exact/live_graph.h"
#include "graphs/small_treewidth.h"

namespace twbn {

/// A node of the search tree that was branched on, as a certificate tells it.
struct Branching {
  /// One child: the pair that it forbids, the bound on its structures, and its own number if it
  /// was branched on, otherwise -1.
  struct Child {
    int edge;
    double bound;
    std::int64_t number;
  };
  std::int64_t number;
  std::vector<Child> children;
};

/// How the search ended.
enum class LiveStatus { solved, stopped, out_of_memory };

/// Searches for the best structure within a limit of width among those that beat a known score.
///
/// A node forbids some pairs of variables to be in one family and keeps others. Its bound is the
/// longest path through its live graph without families that contain a forbidden pair. If the moral
/// graph of that path is within the limit, the node is solved. Otherwise the moral graph, united
/// with the kept pairs, is shrunk to an obstruction: a set of pairs beyond the limit. At least
/// one of its pairs is missing in every structure that is sought, and not a kept one: each child
/// forbids one of them and keeps those of the children before it.
///
/// Nodes are taken best first, a fixed number at a time, so that the answer does not depend on the
/// number of threads; the newest first where memory is short.
class LiveSearch {
 public:
  /// Structures that do not exceed `known` by more than `tolerance` are of no interest. With prices
  /// of clusters, live subsets are found by them, otherwise by tables over all subsets.
  LiveSearch(const ScoreIndex& index, std::span<const double> scores, const WidthLimit& limit,
             double known, double tolerance, ClusterPrices prices, std::int64_t max_bytes,
             bool record, int n_jobs);

  LiveStatus run(Control& control);

  /// Hear, while the search runs, of a structure found elsewhere, and how many threads to use.
  void hear(double known, int n_jobs) {
    elsewhere_.store(known);
    n_jobs_.store(n_jobs);
  }

  /// The best structure found, as positions of its families; empty if none beats the known one and
  /// those heard of.
  const std::vector<std::int64_t>& families() const { return best_families_; }
  /// No structure within the limit scores more than this, or more than the known one.
  double bound() const;
  double root_bound() const { return root_bound_; }
  std::int64_t n_nodes() const { return n_nodes_; }
  std::int64_t n_live() const { return n_live_; }
  const std::vector<Branching>& branchings() const { return branchings_; }

 private:
  struct Node {
    EdgeSet forbidden, kept, edges;  // edges: of its longest path
    double bound = 0;
    std::shared_ptr<const LiveGraph> graph;
    std::vector<int> open;           // the pairs to branch on
    std::shared_ptr<const std::vector<float>> costs;  // of each pair, as nodes above saw it; or -1
    std::int64_t number = 0;
  };
  // What came out of forbidding one pair of a node.
  struct Trial {
    std::size_t node;
    int edge;
    double bound = 0;
    bool narrow = false;
    EdgeSet edges{};
    std::vector<std::int64_t> families{};
    std::shared_ptr<const LiveGraph> graph{};
  };
  struct Cost {
    double sum = 0;
    int times = 0;
  };
  // Greatest bound first, then the oldest.
  using Key = std::pair<double, std::int64_t>;

  LiveOutcome build(LiveGraph& graph, Control& control);
  bool start(std::unique_ptr<LiveGraph> graph, Control& control);
  void measure_costs(const Node& root, Control& control);
  std::vector<Node> take();
  void find_obstructions(std::vector<Node>& nodes, Control& control);
  std::vector<int> obstruction(const Node& node, SmallTreewidth& decision) const;
  std::vector<int> shrunk_edges(const Node& node, Random* random, SmallTreewidth& decision) const;
  std::vector<Trial> try_all(const std::vector<Node>& nodes, Control& control);
  void settle(const Node& node, std::span<Trial> trials);
  void keep(Node node);
  void learn_cost(const Node& node, const Trial& trial);
  double cost(int edge, const Node& node) const;
  void improve(double value, const std::vector<std::int64_t>& families);
  void take_from_elsewhere();
  std::shared_ptr<const LiveGraph> counted(std::shared_ptr<const LiveGraph> graph);
  double used_bytes() const;

  const ScoreIndex& index_;
  std::span<const double> scores_;
  const WidthLimit& limit_;
  double known_, tolerance_;
  std::atomic<double> elsewhere_{minus_infinity};
  std::atomic<int> n_jobs_;
  ClusterPrices prices_;
  double least_;             // values below are of no interest
  double offset_ = 0;        // what is added to a value to get a score
  std::int64_t max_bytes_;
  bool record_;
  double root_bound_;
  std::map<Key, Node> nodes_;  // by negative bound and number
  std::vector<Cost> costs_;
  std::vector<std::int64_t> best_families_;
  std::vector<Branching> branchings_;
  std::int64_t n_nodes_ = 0, n_numbers_ = 0, n_live_ = 0;
  // Bytes of all live graphs; shared with them, as they report when they go.
  std::shared_ptr<std::atomic<std::int64_t>> graph_bytes_ =
      std::make_shared<std::atomic<std::int64_t>>(0);
};

}  // namespace twbn
