// Algorithm 1 of the paper: learning by sampling k-trees.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/control.h"
#include "graphs/dandelion.h"
#include "scores/score_lookup.h"

namespace twbn {

/// What is done with one k-tree.
class KTreeEvaluator {
 public:
  virtual ~KTreeEvaluator() = default;
  /// The score of a structure inside `tree`: the best one, or the best for a random order.
  /// Minus infinity when `control` expires meanwhile.
  virtual double evaluate(const KTreeSteps& tree, Random& random, const Control& control) = 0;
  /// The parents of that structure, for the tree evaluated last.
  virtual std::vector<std::vector<std::int32_t>> parents() = 0;
};

/// Makes one evaluator per thread.
class KTreeEvaluatorFactory {
 public:
  virtual ~KTreeEvaluatorFactory() = default;
  virtual std::unique_ptr<KTreeEvaluator> make() const = 0;
  /// About how many vertices are evaluated in a second: blocks of iterations are cut accordingly.
  virtual double vertices_per_second() const = 0;
};

/// Version 2: draw an order of every clique (Algorithm 2), then give each vertex its best parent
/// set among those inside one clique and before it in the order. O(n) for fixed k. Parent sets are
/// looked up subset by subset; where a vertex has fewer sets than that, its list is walked.
std::unique_ptr<KTreeEvaluatorFactory> order_evaluator(ScoreLookup& scores, int n, int k);

/// Version 1: the best structure inside the k-tree (ktree_dp.h).
std::unique_ptr<KTreeEvaluatorFactory> exact_evaluator(ScoreLookup& scores, int n, int k);

struct Improvement {
  double seconds;
  std::int64_t iteration;
  double score;
};

struct SampleResult {
  double score;
  std::vector<std::vector<std::int32_t>> parents;
  KTreeSteps tree;  // contains the moral graph of the structure
  std::vector<Improvement> trace;
  std::int64_t n_iterations = 0;
  bool found = false;
};

/// Sample k-trees until `max_iterations` (negative: no limit), the deadline, or a score of
/// `good_enough`. Iterations come in blocks, each with a random stream of its own, so the result
/// depends on the seed and the number of iterations, not on the number of threads.
SampleResult sample_ktrees(int n, int k, const KTreeEvaluatorFactory& factory, std::uint64_t seed,
                           std::int64_t max_iterations, double good_enough, int n_jobs,
                           Control& control);

/// The one k-tree on k + 1 vertices.
KTreeSteps single_clique(int n);

}  // namespace twbn
