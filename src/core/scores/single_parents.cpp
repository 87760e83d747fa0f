#include "scores/single_parents.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/numbers.h"
#include "scores/local_score.h"
#include "scores/prefix_counts.h"

namespace twbn {

namespace {

// Scratch space of one thread.
struct SingleScorer {
  SingleScorer(const Columns& columns, const Terms& terms)
      : counter(columns, terms),
        scorer(columns, terms),
        joint(static_cast<std::size_t>(columns.n_variables())) {
    counter.start(everything);
  }
  PrefixCounter counter;
  LocalScorer scorer;
  Prefix everything, single;
  std::vector<double> joint;
  std::vector<std::pair<double, std::int32_t>> ranked;
};

}  // namespace

SingleParents best_single_parents(const Columns& columns, const Terms& terms,
                                  const ParentSetRules& rules, std::size_t most, int n_jobs,
                                  Control& control) {
  const int n = columns.n_variables();
  std::vector<std::vector<std::int32_t>> best(at(n));
  // parent_terms[arity of the child][a]: the same for all children of so many states.
  std::vector<std::vector<double>> parent_terms;
  {
    LocalScorer scorer(columns, terms);
    for (int child = 0; child < n; ++child) {
      const auto arity = at(columns.arity(child));
      if (parent_terms.size() <= arity) parent_terms.resize(arity + 1);
      if (!parent_terms[arity].empty()) continue;
      for (std::int32_t a = 0; a < n; ++a) {
        parent_terms[arity].push_back(scorer.parent_term({&a, 1}, columns.arity(child)));
      }
    }
  }
  for_each_unit(
      n, n_jobs, control, [&] { return std::make_unique<SingleScorer>(columns, terms); },
      [&](std::int64_t child, std::unique_ptr<SingleScorer>& worker) {
        if (rules.max_parents[at(child)] == 0) return;
        const int v = static_cast<int>(child);
        const int arity = columns.arity(v);
        worker->counter.extend(worker->everything, v, n, true, worker->single);
        worker->counter.joint_terms(worker->single, n, worker->joint.data(), nullptr);
        auto& ranked = worker->ranked;
        ranked.clear();
        for (std::int32_t a = 0; a < n; ++a) {
          if (a == v || !rules.allowed[at(child) * at(n) + at(a)]) continue;
          const double score = worker->joint[at(a)] - parent_terms[at(arity)][at(a)] -
                               terms.penalty(columns.arity(a), arity);
          ranked.emplace_back(-score, a);
        }
        const std::size_t kept = std::min(most, ranked.size());
        std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept),
                          ranked.end());
        for (std::size_t i = 0; i < kept; ++i) best[at(child)].push_back(ranked[i].second);
        control.done.fetch_add(1, std::memory_order_relaxed);
      },
      [](std::unique_ptr<SingleScorer>&) {});
  SingleParents result;
  result.offsets.push_back(0);
  for (const auto& own : best) {
    result.parents.insert(result.parents.end(), own.begin(), own.end());
    result.offsets.push_back(static_cast<std::int64_t>(result.parents.size()));
  }
  return result;
}

}  // namespace twbn
