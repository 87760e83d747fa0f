// Live subsets: those that an order of the variables can pass through and still beat a known score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/control.h"
#include "exact/edge_set.h"
#include "scores/score_index.h"

namespace twbn {

/// Stands for no subset, step or family.
inline constexpr std::uint32_t no_number = std::numeric_limits<std::uint32_t>::max();

/// Prices of clusters, sets of variables of which at least one has no parent inside.
struct ClusterPrices {
  std::vector<std::uint32_t> clusters;
  std::vector<double> prices;
};

/// Largest number of variables with tables over all subsets.
inline constexpr int max_table_variables = 25;

/// Bytes that the tables over all subsets of n variables need while a live graph is built.
double live_table_bytes(int n);

/// The steps S → S ∪ {v} by which a structure with a value of at least `least` may be built up.
///
/// The value of a family is its score less the best score of its child, so it is zero at most, and
/// a structure's value is the sum of its families' values. The value of a path from the empty set
/// to the full one, each step with the best allowed family inside S, is the value of the best
/// structure with that order; the longest path bounds every structure.
struct LiveGraph {
  struct Step {
    std::uint32_t to;      // number of the subset after the step
    std::uint32_t family;  // the first family of the child, best first, inside the subset before
  };

  int n = 0;
  std::vector<std::uint32_t> subsets;     // in an order in which all steps go forward
  std::vector<std::uint32_t> step_offsets;
  std::vector<Step> steps;
  std::vector<double> to_go;  // no path from the subset to the full one is longer
  std::vector<std::uint32_t> family_offsets;  // of each child
  std::vector<std::uint32_t> parents;
  std::vector<double> values;
  std::vector<EdgeSet> edges;
  std::vector<std::int64_t> positions;    // of the families among the sets of the score index

  std::size_t bytes() const;
};

/// Longest paths through a live graph; holds the scratch space of one thread.
class LongestPath {
 public:
  /// The value of the longest path without families that contain a forbidden pair; minus infinity
  /// if it is below `least`.
  double run(const LiveGraph& graph, const EdgeSet& forbidden, double least);
  /// Of the last path: the position of each child's family among the sets of the score index.
  std::vector<std::int64_t> families() const;
  /// Of the last path: its pairs.
  EdgeSet edges() const;
  /// Number of subsets that the last run reached.
  std::size_t n_reached() const { return n_reached_; }
  /// The part of the graph that is live without the pairs forbidden in the last run.
  std::shared_ptr<const LiveGraph> shrunk();

 private:
  std::uint32_t allowed(std::uint32_t family, std::uint32_t end, std::uint32_t subset,
                        double least) const;
  template <class Visit>
  void path(Visit visit) const;

  const LiveGraph* graph_ = nullptr;
  double least_ = 0;
  std::size_t n_reached_ = 0;
  std::vector<double> value_;
  std::vector<std::uint32_t> from_, by_;
  std::vector<std::uint8_t> blocked_;
};

/// How far the building of a live graph came.
enum class LiveOutcome { built, stopped, out_of_memory };

/// Collect the families of at most k parents (larger ones are cliques that no graph of treewidth k
/// has) that can be part of a structure with a score of at least `least`, as far as prices tell.
/// Returns the sum of the best scores, to be added to values.
double collect_families(const ScoreIndex& index, std::span<const double> scores, int k,
                        double least, const ClusterPrices& prices, LiveGraph& graph);

/// Build the live graph of all structures with a value of at least `least`, from tables over all
/// subsets. If more than `max_bytes` would be needed, nothing is built.
LiveOutcome build_by_tables(double least, std::int64_t max_bytes, int n_jobs, Control& control,
                            LiveGraph& graph);

/// The same, subset by subset in the order of their sizes, from those that the prices of clusters do
/// not exclude: good prices leave few, so the number of variables does not matter.
LiveOutcome build_by_prices(const ClusterPrices& prices, double least, std::int64_t max_bytes,
                            int n_jobs, Control& control, LiveGraph& graph);

}  // namespace twbn
