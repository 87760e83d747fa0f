#include "sampling/ktree_sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "base/numbers.h"

namespace twbn {

namespace {

/// What the blocks of iterations add up to, in the order of the iterations.
class Best {
 public:
  Best(double good_enough, Control& control) : good_enough_(good_enough), control_(control) {}

  /// The best score of all blocks up to the first unfinished one; only better scores are recorded.
  double known() const { return known_.load(std::memory_order_relaxed); }

  void improve(double score, std::int64_t iteration, double seconds,
               const std::function<void(SampleResult&)>& write) {
    const std::lock_guard lock(mutex_);
    news_.push_back({seconds, iteration, score});
    if (score > result_.score || (score == result_.score && iteration < iteration_)) {
      result_.score = score;
      result_.found = true;
      iteration_ = iteration;
      write(result_);
      control_.best.store(std::max(score, control_.best.load()), std::memory_order_relaxed);
      if (score >= good_enough_) control_.enough = true;
    }
  }

  void finish_block(std::int64_t block, double score) {
    const std::lock_guard lock(mutex_);
    finished_[block] = score;
    for (auto next = finished_.begin(); next != finished_.end() && next->first == n_finished_;
         next = finished_.erase(next)) {
      known_.store(std::max(known(), next->second), std::memory_order_relaxed);
      ++n_finished_;
    }
  }

  SampleResult take(std::int64_t n_iterations) {
    std::sort(news_.begin(), news_.end(), [](const Improvement& a, const Improvement& b) {
      return a.iteration < b.iteration;
    });
    double best = minus_infinity;
    double seconds = 0;
    for (const Improvement& step : news_) {
      seconds = std::max(seconds, step.seconds);
      if (step.score > best) result_.trace.push_back({seconds, step.iteration, step.score});
      best = std::max(best, step.score);
    }
    result_.n_iterations = n_iterations;
    return std::move(result_);
  }

 private:
  double good_enough_;
  Control& control_;
  std::mutex mutex_;
  SampleResult result_{minus_infinity, {}, {}, {}, 0, false};
  std::int64_t iteration_ = 0;
  std::vector<Improvement> news_;
  std::map<std::int64_t, double> finished_;
  std::int64_t n_finished_ = 0;
  std::atomic<double> known_{minus_infinity};
};

}  // namespace

KTreeSteps single_clique(int n) {
  KTreeSteps tree;
  tree.n = n;
  tree.k = n - 1;
  for (std::int32_t v = 0; v + 1 < n; ++v) tree.root.push_back(v);
  tree.vertex = {n - 1};
  tree.parent = {-1};
  tree.dropped = {-1};
  return tree;
}

SampleResult sample_ktrees(int n, int k, const KTreeEvaluatorFactory& factory, std::uint64_t seed,
                           std::int64_t max_iterations, double good_enough, int n_jobs,
                           Control& control) {
  const auto start = Clock::now();
  // Blocks of some milliseconds: short enough to share out evenly, too long to cost anything.
  const auto block_size = static_cast<std::int64_t>(
      std::clamp(0.02 * factory.vertices_per_second() / n, 1.0, 1024.0));
  const bool slow = block_size < 16;  // then the clock is read before every iteration
  const std::int64_t n_blocks = max_iterations < 0
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : (max_iterations + block_size - 1) / block_size;
  Best best(good_enough, control);
  const bool one_clique = n == k + 1;

  struct Worker {
    std::unique_ptr<KTreeEvaluator> evaluator;
    std::optional<DandelionDecoder> decoder;
    DandelionCode code;
    KTreeSteps tree;
  };
  for_each_unit(
      n_blocks, n_jobs, control,
      [&] {
        Worker worker;
        worker.evaluator = factory.make();
        if (one_clique) {
          worker.tree = single_clique(n);
        } else {
          worker.decoder.emplace(n, k);
        }
        return worker;
      },
      [&](std::int64_t block, Worker& worker) {
        Random random(seed, static_cast<std::uint64_t>(block));
        std::int64_t last = (block + 1) * block_size;
        if (max_iterations >= 0) last = std::min(last, max_iterations);
        double block_best = minus_infinity;
        std::int64_t iteration = block * block_size;
        for (; iteration < last; ++iteration) {
          if ((slow || (iteration & 15) == 0) && control.expired()) break;
          if (!one_clique) {
            worker.decoder->sample(random, worker.code);
            worker.decoder->decode(worker.code, worker.tree);
          }
          const double score = worker.evaluator->evaluate(worker.tree, random, control);
          if (slow && score == minus_infinity && control.expired()) break;
          control.done.fetch_add(1, std::memory_order_relaxed);
          if (score <= block_best || score <= best.known()) continue;
          block_best = score;
          const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
          best.improve(score, iteration, seconds, [&](SampleResult& result) {
            result.parents = worker.evaluator->parents();
            result.tree = worker.tree;
          });
        }
        if (iteration == last) best.finish_block(block, block_best);
      },
      [](Worker&) {});
  return best.take(control.done.load());
}

}  // namespace twbn
