#include "scores/all_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "base/numbers.h"
#include "scores/family_list.h"
#include "scores/local_score.h"
#include "scores/prefix_counts.h"
#include "scores/set_ranks.h"

namespace twbn {

namespace {

class Engine {
 public:
  Engine(const Columns& columns, const Terms& terms, const ParentSetRules& rules, int n_jobs,
         std::int64_t max_result_bytes, Control& control)
      : columns_(columns),
        terms_(terms),
        rules_(rules),
        n_jobs_(n_jobs),
        max_result_bytes_(max_result_bytes),
        control_(control),
        n_(columns.n_variables()),
        max_size_(*std::max_element(rules.max_parents.begin(), rules.max_parents.end())),
        ranks_(n_, max_size_ + 1),
        lists_(static_cast<std::size_t>(n_)) {
    // K2's parent term depends on the child's arity: one group of terms for each arity.
    std::map<int, int> groups;
    for (int v = 0; v < n_; ++v) {
      const int arity = terms.parent_is_joint() ? 0 : columns.arity(v);
      groups.try_emplace(arity, static_cast<int>(groups.size()));
      group_of_.push_back(groups[arity]);
    }
    group_arity_.resize(groups.size());
    for (const auto& [arity, group] : groups) group_arity_[static_cast<std::size_t>(group)] = arity;
    bdeu_bound_ = rules.prune && terms.kind() == ScoreKind::bdeu && columns.weights_at_least_one();
    penalty_bound_ = rules.prune && terms.kind() != ScoreKind::bdeu && terms.kind() != ScoreKind::k2;
  }

  ScoredSets run() {
    ScoredSets result;
    prepare_empty_parents();
    for (size_ = 0; size_ <= max_size_; ++size_) {
      if (!run_level()) break;
      result.complete_size = size_;
    }
    result.timed_out = control_.expired();
    result.out_of_memory = out_of_memory_;
    result.n_scored = n_scored_;
    result.n_skipped = n_skipped_;
    sort_families(lists_, n_jobs_, result);
    return result;
  }

 private:
  // What one thread holds. `limits[k][a]` is the best score among the proper subsets of the
  // parent set of child k (prefix member k, or a itself for the last k) in the set prefix ∪ {a}.
  struct Worker {
    explicit Worker(const Engine& engine)
        : counter(engine.columns_, engine.terms_),
          scorer(engine.columns_, engine.terms_),
          prefixes(static_cast<std::size_t>(engine.size_) + 1),
          joint(static_cast<std::size_t>(engine.n_)),
          observed(static_cast<std::size_t>(engine.n_)),
          limits(static_cast<std::size_t>(engine.size_) + 1,
                 std::vector<double>(static_cast<std::size_t>(engine.n_))),
          found(static_cast<std::size_t>(engine.n_)) {
      counter.start(prefixes[0]);
    }
    PrefixCounter counter;
    LocalScorer scorer;
    std::vector<Prefix> prefixes;  // by depth
    std::vector<int> members;      // of the full prefix, descending
    std::vector<double> joint;
    std::vector<std::uint32_t> observed;
    bool observed_ready = false;
    std::vector<std::vector<double>> limits;
    std::vector<FamilyList> found;
    std::vector<std::int32_t> parents;
    std::int64_t found_bytes = 0;
    std::int64_t n_scored = 0;
    std::int64_t n_skipped = 0;
  };

  void prepare_empty_parents() {
    // Level 0 needs the parent term of the empty set only.
    previous_terms_.assign(group_arity_.size(), std::vector<double>(1));
    for (std::size_t g = 0; g < group_arity_.size(); ++g) {
      previous_terms_[g][0] = terms_.parent_cell(columns_.total_weight(), 1.0, group_arity_[g]);
    }
  }

  bool run_level() {
    const bool last_level = size_ == max_size_;
    next_terms_.clear();
    next_best_.clear();
    if (!last_level) {
      const std::size_t n_sets = ranks_.choose(n_, size_ + 1);
      const std::size_t n_parent_sets = ranks_.choose(n_, size_);
      next_terms_.assign(group_arity_.size(),
                         std::vector<double>(n_sets, std::numeric_limits<double>::quiet_NaN()));
      next_best_.assign(static_cast<std::size_t>(n_), std::vector<double>(n_parent_sets, infinity));
    }
    // Units of work: the two largest members of the set; they are handed out largest first.
    units_.clear();
    if (size_ == 0) {
      units_.emplace_back(-1, -1);
    } else {
      for (int first = n_ - 1; first >= size_; --first) {
        if (size_ == 1) units_.emplace_back(first, -1);
        for (int second = first - 1; size_ > 1 && second >= size_ - 1; --second) {
          units_.emplace_back(first, second);
        }
      }
    }
    for_each_unit(
        static_cast<std::int64_t>(units_.size()), n_jobs_, control_,
        [this] { return std::make_unique<Worker>(*this); },
        [this](std::int64_t unit, std::unique_ptr<Worker>& worker) {
          run_unit(units_[static_cast<std::size_t>(unit)], *worker);
        },
        [this](std::unique_ptr<Worker>& worker) { collect(*worker); });
    if (control_.expired() || out_of_memory_) {
      for (FamilyList& list : lists_) list.drop_size(size_);
      return false;
    }
    previous_terms_ = std::move(next_terms_);
    best_ = std::move(next_best_);
    return true;
  }

  // Called by one thread at a time.
  void collect(Worker& worker) {
    for (std::size_t v = 0; v < lists_.size(); ++v) lists_[v].append(worker.found[v]);
    n_scored_ += worker.n_scored;
    n_skipped_ += worker.n_skipped;
  }

  void run_unit(std::pair<int, int> unit, Worker& worker) {
    worker.members.clear();
    if (size_ == 0) {
      score_prefix(n_, worker);
      return;
    }
    if (size_ == 1) {
      descend_into(unit.first, worker);
      return;
    }
    worker.members.push_back(unit.first);
    worker.counter.extend(worker.prefixes[0], unit.first, unit.first, false, worker.prefixes[1]);
    descend_into(unit.second, worker);
  }

  void descend_into(int v, Worker& worker) {
    const auto depth = static_cast<int>(worker.members.size());
    worker.members.push_back(v);
    if (depth + 1 == size_) {
      score_prefix(v, worker);
    } else {
      worker.counter.extend(worker.prefixes[static_cast<std::size_t>(depth)], v, v, false,
                            worker.prefixes[static_cast<std::size_t>(depth) + 1]);
      for (int next = v - 1; next >= size_ - 1 - depth; --next) {
        if (control_.expired() || out_of_memory_) break;
        descend_into(next, worker);
      }
    }
    worker.members.pop_back();
  }

  // The full prefix and every a < limit: score each member of prefix ∪ {a} as child of the rest.
  void score_prefix(int limit, Worker& worker) {
    const auto n_sets = static_cast<std::size_t>(limit);
    fill_limits(limit, worker);
    control_.done.fetch_add(static_cast<std::int64_t>(n_sets) * (size_ + 1),
                            std::memory_order_relaxed);
    if (dead_branches_.load(std::memory_order_relaxed) && nothing_alive(n_sets, worker)) {
      worker.n_skipped += static_cast<std::int64_t>(n_sets) * (size_ + 1);
      return;
    }
    Prefix& prefix = worker.prefixes[static_cast<std::size_t>(size_)];
    if (size_ > 0) {
      worker.counter.extend(worker.prefixes[static_cast<std::size_t>(size_) - 1],
                            worker.members.back(), limit, true, prefix);
    }
    worker.counter.joint_terms(prefix, limit, worker.joint.data(), nullptr);
    worker.observed_ready = false;
    if (size_ < max_size_) keep_terms(prefix, limit, worker);
    for (int k = 0; k <= size_; ++k) score_child(k, limit, worker);
  }

  void fill_limits(int limit, Worker& worker) const {
    const std::vector<int>& members = worker.members;
    for (int k = 0; k <= size_; ++k) {
      double* limits = worker.limits[static_cast<std::size_t>(k)].data();
      std::fill_n(limits, limit, -infinity);
      if (size_ == 0) continue;
      if (k == size_) {  // child a, parents = prefix
        for (int y = 0; y < size_; ++y) {
          const std::size_t rank = ranks_.base(members, y, -1, 0);
          for (int a = 0; a < limit; ++a) {
            limits[a] = std::max(limits[a], best_[static_cast<std::size_t>(a)][rank]);
          }
        }
        continue;
      }
      const double* best =
          best_[static_cast<std::size_t>(members[static_cast<std::size_t>(k)])].data();
      const double without_a = best[ranks_.base(members, k, -1, 0)];
      std::fill_n(limits, limit, without_a);
      for (int y = 0; y < size_; ++y) {
        if (y == k) continue;
        const double* row = best + ranks_.base(members, k, y, 1);
        for (int a = 0; a < limit; ++a) limits[a] = std::max(limits[a], row[a]);
      }
    }
  }

  bool nothing_alive(std::size_t n_sets, const Worker& worker) const {
    return std::all_of(worker.limits.begin(), worker.limits.end(), [&](const auto& limits) {
      return std::all_of(limits.begin(), limits.begin() + static_cast<std::ptrdiff_t>(n_sets),
                         [](double limit) { return limit == infinity; });
    });
  }

  void keep_terms(const Prefix& prefix, int limit, Worker& worker) {
    const std::size_t rank = ranks_.base(worker.members, -1, -1, 1);
    for (std::size_t g = 0; g < group_arity_.size(); ++g) {
      double* terms = next_terms_[g].data() + rank;
      if (group_arity_[g] == 0) {
        std::copy_n(worker.joint.data(), limit, terms);
      } else {
        worker.counter.parent_terms(prefix, limit, group_arity_[g], terms);
      }
    }
  }

  void score_child(int k, int limit, Worker& worker) {
    const std::vector<int>& members = worker.members;
    const bool child_is_a = k == size_;
    const auto group = [&](int child) { return static_cast<std::size_t>(group_of_[static_cast<std::size_t>(child)]); };
    const std::size_t rank = ranks_.base(members, k, -1, child_is_a ? 0 : 1);
    const double* limits = worker.limits[static_cast<std::size_t>(k)].data();
    double configurations = 1;  // of the members of the prefix that are parents
    for (int j = 0; j < size_; ++j) {
      if (j != k) configurations *= columns_.arity(members[static_cast<std::size_t>(j)]);
    }
    for (int a = 0; a < limit; ++a) {
      const int child = child_is_a ? a : members[static_cast<std::size_t>(k)];
      const double bound = limits[a];
      const std::size_t index = child_is_a ? rank : rank + static_cast<std::size_t>(a);
      // In both cases next_best_ holds infinity already: no superset is wanted either.
      if (size_ > rules_.max_parents[static_cast<std::size_t>(child)]) continue;
      if (bound == infinity) {
        ++worker.n_skipped;
        continue;
      }
      double parent = previous_terms_[group(child)][index];
      if (std::isnan(parent)) parent = missing_parent_term(k, a, child, worker);
      const double n_configurations =
          child_is_a ? configurations : configurations * columns_.arity(a);
      const int arity = columns_.arity(child);
      const double score =
          worker.joint[static_cast<std::size_t>(a)] - parent - terms_.penalty(n_configurations, arity);
      ++worker.n_scored;
      double best = rules_.prune ? bound : -infinity;
      if (score > best && wanted(k, a, child, worker)) {
        emit(k, a, child, score, worker);
        if (rules_.prune) best = score;
      }
      if (size_ == max_size_) continue;
      if (size_ == 1 && !allowed(child, child_is_a ? members[0] : a)) best = infinity;
      if (branch_is_dead(a, arity, n_configurations, best, limit, worker)) best = infinity;
      if (best == infinity) dead_branches_.store(true, std::memory_order_relaxed);
      next_best_[static_cast<std::size_t>(child)][index] = best;
    }
  }

  // A set that was skipped as (child, parents) for all its members may still be a parent set.
  double missing_parent_term(int k, int a, int child, Worker& worker) const {
    fill_parents(k, a, worker);
    return worker.scorer.parent_term(worker.parents, columns_.arity(child));
  }

  bool allowed(int child, int parent) const {
    return rules_.allowed[static_cast<std::size_t>(child) * static_cast<std::size_t>(n_) +
                          static_cast<std::size_t>(parent)] != 0;
  }

  bool wanted(int k, int a, int child, Worker& worker) const {
    if (size_ == 1) {
      const int parent = k == 1 ? worker.members[0] : a;
      if (!allowed(child, parent)) return false;
    }
    const auto& required = rules_.required[static_cast<std::size_t>(child)];
    if (required.empty()) return true;
    fill_parents(k, a, worker);
    return std::includes(worker.parents.begin(), worker.parents.end(), required.begin(),
                         required.end());
  }

  // Parents of child k in prefix ∪ {a}, ascending.
  void fill_parents(int k, int a, Worker& worker) const {
    worker.parents.clear();
    if (k != size_) worker.parents.push_back(a);
    for (int j = size_ - 1; j >= 0; --j) {
      if (j != k) worker.parents.push_back(worker.members[static_cast<std::size_t>(j)]);
    }
  }

  void emit(int k, int a, int child, double score, Worker& worker) {
    fill_parents(k, a, worker);
    worker.found[static_cast<std::size_t>(child)].add(score, worker.parents);
    worker.found_bytes += FamilyList::bytes_per_set(size_);
    if (worker.found_bytes > (std::int64_t{1} << 20)) {
      if (result_bytes_.fetch_add(worker.found_bytes) + worker.found_bytes > max_result_bytes_) {
        out_of_memory_ = true;
      }
      worker.found_bytes = 0;
    }
  }

  // Can no strict superset of the parent set beat `best`, the best score so far in its subsets?
  bool branch_is_dead(int a, int arity, double n_configurations, double best, int limit,
                      Worker& worker) {
    if (penalty_bound_) {
      return -terms_.penalty(n_configurations * columns_.smallest_arity(), arity) <= best;
    }
    if (!bdeu_bound_) return false;
    const double log_arity = std::log(static_cast<double>(arity));
    const double most_cells =
        std::min(n_configurations * arity, static_cast<double>(columns_.n_rows()));
    if (-most_cells * log_arity > best) return false;
    if (!worker.observed_ready) {
      Prefix& prefix = worker.prefixes[static_cast<std::size_t>(size_)];
      worker.counter.joint_terms(prefix, limit, worker.joint.data(), worker.observed.data());
      worker.observed_ready = true;
    }
    return -static_cast<double>(worker.observed[static_cast<std::size_t>(a)]) * log_arity <= best;
  }

  const Columns& columns_;
  const Terms& terms_;
  const ParentSetRules& rules_;
  int n_jobs_;
  std::int64_t max_result_bytes_;
  Control& control_;
  int n_;
  int max_size_;
  SetRanks ranks_;
  std::vector<int> group_of_;
  std::vector<int> group_arity_;
  bool bdeu_bound_ = false;
  bool penalty_bound_ = false;

  int size_ = 0;  // of the parent sets of this level
  std::vector<std::pair<int, int>> units_;
  std::vector<std::vector<double>> previous_terms_;  // by group, by rank of the parent set
  std::vector<std::vector<double>> next_terms_;
  std::vector<std::vector<double>> best_;  // by child, by rank: best score among all subsets
  std::vector<std::vector<double>> next_best_;
  std::atomic<bool> dead_branches_{false};
  std::atomic<bool> out_of_memory_{false};
  std::atomic<std::int64_t> result_bytes_{0};
  std::vector<FamilyList> lists_;
  std::int64_t n_scored_ = 0;
  std::int64_t n_skipped_ = 0;
};

}  // namespace

ScoredSets score_all_sets(const Columns& columns, const Terms& terms, const ParentSetRules& rules,
                          int n_jobs, std::int64_t max_result_bytes, Control& control) {
  return Engine(columns, terms, rules, n_jobs, max_result_bytes, control).run();
}

}  // namespace twbn
