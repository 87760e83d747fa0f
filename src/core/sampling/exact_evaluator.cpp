// Version 1 of the paper's Algorithm 1: the best structure inside every k-tree.
#include <cmath>
#include <memory>

#include "sampling/ktree_dp.h"
#include "sampling/ktree_sampling.h"

namespace twbn {

namespace {

class ExactEvaluator final : public KTreeEvaluator {
 public:
  ExactEvaluator(ScoreLookup& scores, int n, int k) : optimizer_(scores, n, k) {}
  double evaluate(const KTreeSteps& tree, Random&, const Control& control) override {
    return optimizer_.best_score(tree, control);
  }
  std::vector<std::vector<std::int32_t>> parents() override { return optimizer_.best_parents(); }

 private:
  KTreeOptimizer optimizer_;
};

class ExactEvaluatorFactory final : public KTreeEvaluatorFactory {
 public:
  ExactEvaluatorFactory(ScoreLookup& scores, int n, int k) : scores_(scores), n_(n), k_(k) {}
  std::unique_ptr<KTreeEvaluator> make() const override {
    return std::make_unique<ExactEvaluator>(scores_, n_, k_);
  }
  double vertices_per_second() const override {
    return 1e9 / (std::pow(3.0, k_) * factorial(k_ + 1));
  }

 private:
  ScoreLookup& scores_;
  int n_;
  int k_;
};

}  // namespace

std::unique_ptr<KTreeEvaluatorFactory> exact_evaluator(ScoreLookup& scores, int n, int k) {
  return std::make_unique<ExactEvaluatorFactory>(scores, n, k);
}

}  // namespace twbn
