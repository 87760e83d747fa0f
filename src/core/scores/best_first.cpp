#include "scores/best_first.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <queue>
#include <unordered_map>

#include "base/numbers.h"
#include "scores/family_list.h"
#include "scores/local_score.h"
#include "scores/prefix_counts.h"
#include "scores/score_index.h"

namespace twbn {

namespace {

using Members = std::vector<std::int32_t>;

struct MembersHash {
  std::size_t operator()(const Members& members) const { return family_hash(0, members); }
};

struct Worker {
  Worker(const Columns& columns, const Terms& terms)
      : counter(columns, terms),
        scorer(columns, terms),
        joint(static_cast<std::size_t>(columns.n_variables())) {
    counter.start(everything);
  }
  PrefixCounter counter;
  LocalScorer scorer;
  Prefix everything;
  Prefix single;
  std::vector<double> joint;
  std::vector<double> best_single;
};

class ChildExplorer {
 public:
  ChildExplorer(const Columns& columns, const Terms& terms, const ParentSetRules& rules, int child,
                Worker& worker)
      : columns_(columns), terms_(terms), rules_(rules), child_(child), worker_(worker) {}

  void explore(std::int64_t budget, const Control& control, Clock::time_point deadline,
               FamilyList& found) {
    score_smallest();
    if (control.expired()) {
      timed_out_ = true;
      keep_best(found);
      return;
    }
    score_singles();
    const std::int64_t first_scored = n_scored_;
    const auto out_of_time = [&] { return control.expired() || Clock::now() >= deadline; };
    score_core(budget / 2, out_of_time);
    while (!queue_.empty() && n_scored_ - first_scored < budget) {
      if ((n_scored_ & 63) == 0 && out_of_time()) {
        timed_out_ = true;
        break;
      }
      const Candidate candidate = queue_.top();
      queue_.pop();
      push(candidate.base, candidate.base_score, candidate.next + 1);
      if (candidate.from_single) push_next_single();
      Members members = candidate.base;
      const std::int32_t added = single(candidate.next).parent;
      members.insert(std::upper_bound(members.begin(), members.end(), added), added);
      if (scores_.contains(members)) continue;
      const double score = worker_.scorer.score(child_, members);
      ++n_scored_;
      scores_.emplace(members, score);
      if (may_improve(members, score)) push(members, score, 0);
    }
    keep_best(found);
  }
  std::int64_t n_scored() const { return n_scored_; }
  bool timed_out() const { return timed_out_; }

 private:
  struct Single {
    std::int32_t parent;
    double score;
  };
  struct Candidate {
    double estimate;
    Members base;
    double base_score;
    std::size_t next;          // position in singles_ of the parent to add
    bool from_single = false;  // the first candidate of the single parent that was waiting
    bool operator<(const Candidate& other) const {
      if (estimate != other.estimate) return estimate < other.estimate;
      return std::pair(other.base, other.next) < std::pair(base, next);
    }
  };

  // The empty set, and the set of those that are required.
  void score_smallest() {
    empty_score_ = worker_.scorer.score(child_, Members());
    ++n_scored_;
    const Members& required = rules_.required[static_cast<std::size_t>(child_)];
    if (required.empty()) return;
    required_score_ = worker_.scorer.score(child_, required);
    if (required.size() > 1) scores_.emplace(required, required_score_);
  }

  void score_singles() {
    const int n = columns_.n_variables();
    const auto v = static_cast<std::size_t>(child_);
    const int arity = columns_.arity(child_);
    const Members& required = rules_.required[v];
    if (rules_.max_parents[v] == 0) return;
    worker_.counter.extend(worker_.everything, child_, n, true, worker_.single);
    worker_.counter.joint_terms(worker_.single, n, worker_.joint.data(), nullptr);
    for (std::int32_t a = 0; a < n; ++a) {
      if (a == child_ || !rules_.allowed[v * static_cast<std::size_t>(n) + static_cast<std::size_t>(a)]) {
        continue;
      }
      const double score = worker_.joint[static_cast<std::size_t>(a)] - parent_term(a, arity) -
                           terms_.penalty(columns_.arity(a), arity);
      ++n_scored_;
      singles_.push_back({a, score});
    }
    if (!required.empty()) push(required, required_score_, 0);
  }

  // The best parents are looked at far more often than the others: sorted as far as is needed.
  const Single& single(std::size_t i) {
    if (i >= n_sorted_) {
      const std::size_t wanted = std::min(singles_.size(), std::max<std::size_t>(64, 2 * (i + 1)));
      const auto place = [&](std::size_t k) { return singles_.begin() + static_cast<std::ptrdiff_t>(k); };
      std::partial_sort(place(n_sorted_), place(wanted), singles_.end(),
                        [](const Single& left, const Single& right) {
                          return std::pair(-left.score, left.parent) <
                                 std::pair(-right.score, right.parent);
                        });
      n_sorted_ = wanted;
    }
    return singles_[i];
  }

  // All sets of the best few single parents: parents that are worth little alone may be worth much
  // together, which the estimate does not see.
  template <class OutOfTime>
  void score_core(std::int64_t budget, OutOfTime out_of_time) {
    const auto v = static_cast<std::size_t>(child_);
    if (!rules_.required[v].empty()) return;  // they are the base of every set
    const auto max_size = static_cast<std::size_t>(rules_.max_parents[v]);
    std::size_t core = 0;
    while (core < singles_.size() && n_sets(core + 1, max_size) <= budget) ++core;
    for (std::size_t i = 0; i < core; ++i) push({single(i).parent}, single(i).score, core);
    waiting_ = core;
    push_next_single();
    std::vector<std::size_t> chosen;
    for (std::size_t size = 2; size <= std::min(max_size, core); ++size) {
      chosen.resize(size);
      std::iota(chosen.begin(), chosen.end(), std::size_t{0});
      do {
        if ((n_scored_ & 63) == 0 && out_of_time()) {
          timed_out_ = true;
          return;
        }
        Members members;
        for (const std::size_t i : chosen) members.push_back(single(i).parent);
        std::sort(members.begin(), members.end());
        const double score = worker_.scorer.score(child_, members);
        ++n_scored_;
        if (may_improve(members, score)) push(members, score, core);
        scores_.emplace(std::move(members), score);
      } while (next_subset(chosen, core));
    }
  }

  // Estimates fall along the single parents, so one of them waits until the one before was taken.
  void push_next_single() {
    if (waiting_ >= singles_.size()) return;
    const std::size_t i = waiting_++;
    push({single(i).parent}, single(i).score, 0, true);
  }

  /// How many sets of two or more of `n`, up to a size; at least the limits that matter here.
  static std::int64_t n_sets(std::size_t n, std::size_t max_size) {
    double total = 0;
    double choose = static_cast<double>(n);
    for (std::size_t size = 2; size <= std::min(n, max_size); ++size) {
      choose *= static_cast<double>(n - size + 1) / static_cast<double>(size);
      total += choose;
    }
    return static_cast<std::int64_t>(std::min(total, 1e18));
  }

  /// The next of the ascending subsets of 0 .. n - 1 of one size; false after the last.
  static bool next_subset(std::vector<std::size_t>& chosen, std::size_t n) {
    std::size_t i = chosen.size();
    while (i > 0 && chosen[i - 1] == n - chosen.size() + i - 1) --i;
    if (i == 0) return false;
    ++chosen[i - 1];
    for (; i < chosen.size(); ++i) chosen[i] = chosen[i - 1] + 1;
    return true;
  }

  // Sum over the states of one variable, from the counts that are there already.
  double parent_term(std::int32_t a, int arity) {
    const Members alone{a};
    if (!columns_.packed(a)) return worker_.scorer.parent_term(alone, arity);
    const double n_cells = columns_.arity(a);
    const double* table = terms_.table(n_cells, terms_.parent_is_joint() ? 0 : arity);
    const auto term = [&](std::uint32_t units) {
      return table ? table[units] : terms_.parent_cell(columns_.unit() * units, n_cells, arity);
    };
    double sum = 0;
    std::uint32_t rest = worker_.everything.cell_counts[0];
    for (std::size_t c = columns_.first_bit_column(a); c < columns_.first_bit_column(a + 1); ++c) {
      sum += term(worker_.everything.counts[c]);
      rest -= worker_.everything.counts[c];
    }
    return sum + term(rest);
  }

  void push(const Members& base, double base_score, std::size_t next, bool from_single = false) {
    if (base.size() >= static_cast<std::size_t>(rules_.max_parents[static_cast<std::size_t>(child_)])) {
      return;
    }
    while (next < singles_.size() &&
           std::binary_search(base.begin(), base.end(), single(next).parent)) {
      ++next;
    }
    if (next >= singles_.size()) return;
    queue_.push({base_score + single(next).score - empty_score_, base, base_score, next, from_single});
  }

  // The bounds of score_all_sets: no superset of `members` can beat what its subsets reach.
  bool may_improve(const Members& members, double score) const {
    double configurations = 1;
    for (const std::int32_t v : members) configurations *= columns_.arity(v);
    const int arity = columns_.arity(child_);
    if (terms_.penalised()) {
      return -terms_.penalty(configurations * columns_.smallest_arity(), arity) > score;
    }
    if (terms_.kind() == ScoreKind::bdeu && columns_.weights_at_least_one()) {
      return -static_cast<double>(worker_.scorer.observed_cells()) * std::log(arity) > score;
    }
    return true;
  }

  // A set is dropped if a scored subset scores at least as well: smaller sets first.
  void keep_best(FamilyList& found) {
    const Members& required = rules_.required[static_cast<std::size_t>(child_)];
    const double best_empty = required.empty() ? empty_score_ : -infinity;
    if (required.empty()) found.add(empty_score_, {});
    std::vector<double>& best_single = worker_.best_single;  // with the empty set, by parent
    best_single.assign(static_cast<std::size_t>(columns_.n_variables()), -infinity);
    if (required.size() == 1 && singles_.empty()) singles_.push_back({required[0], required_score_});
    for (const Single& one : singles_) {
      const bool complete = required.empty() || (required.size() == 1 && required[0] == one.parent);
      if (!complete) continue;
      const double score = required.empty() ? one.score : required_score_;
      if (!rules_.prune || score > best_empty) found.add(score, {&one.parent, 1});
      best_single[static_cast<std::size_t>(one.parent)] = std::max(best_empty, score);
    }
    std::vector<const Members*> order;
    order.reserve(scores_.size());
    for (const auto& [members, score] : scores_) order.push_back(&members);
    std::sort(order.begin(), order.end(), [](const Members* left, const Members* right) {
      return left->size() != right->size() ? left->size() < right->size() : *left < *right;
    });
    std::unordered_map<Members, double, MembersHash> best;  // over all scored subsets
    Members smaller;
    for (const Members* members : order) {
      const double score = scores_.at(*members);
      double limit = best_empty;
      for (std::size_t skip = 0; skip < members->size(); ++skip) {
        limit = std::max(limit, best_single[static_cast<std::size_t>((*members)[skip])]);
        if (members->size() == 2) continue;
        smaller.assign(members->begin(), members->end());
        smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(skip));
        if (const auto subset = best.find(smaller); subset != best.end()) {
          limit = std::max(limit, subset->second);
        }
      }
      const bool complete =
          std::includes(members->begin(), members->end(), required.begin(), required.end());
      if (complete && (!rules_.prune || score > limit)) found.add(score, *members);
      best.emplace(*members, complete ? std::max(limit, score) : -infinity);
    }
  }

  const Columns& columns_;
  const Terms& terms_;
  const ParentSetRules& rules_;
  int child_;
  Worker& worker_;
  double empty_score_ = 0;
  double required_score_ = 0;
  std::vector<Single> singles_;  // best first, up to n_sorted_
  std::size_t n_sorted_ = 0;
  std::size_t waiting_ = 0;  // the single parent whose candidates come next
  std::unordered_map<Members, double, MembersHash> scores_;  // of sets of two or more
  std::priority_queue<Candidate> queue_;
  std::int64_t n_scored_ = 0;
  bool timed_out_ = false;
};

}  // namespace

ScoredSets explore_best_first(const Columns& columns, const Terms& terms,
                              const ParentSetRules& rules, std::int64_t budget, int n_jobs,
                              Control& control) {
  const int n = columns.n_variables();
  std::vector<FamilyList> lists(static_cast<std::size_t>(n));
  std::atomic<std::int64_t> n_scored{0};
  std::atomic<bool> timed_out{false};
  // Only those that may have parents take time.
  std::atomic<int> n_left{static_cast<int>(std::count_if(
      rules.max_parents.begin(), rules.max_parents.end(), [](int most) { return most > 0; }))};
  const bool timed = control.deadline != Clock::time_point::max();
  Control every_child;  // each child is visited: when the time is over, for its smallest set alone
  for_each_unit(
      n, n_jobs, every_child, [&] { return std::make_unique<Worker>(columns, terms); },
      [&](std::int64_t unit, std::unique_ptr<Worker>& worker) {
        auto deadline = Clock::time_point::max();
        if (timed) {
          const auto now = Clock::now();
          const int left = std::max(n_left.load(), 1);
          deadline = now + (std::max(control.deadline, now) - now) * n_jobs / left;
        }
        ChildExplorer explorer(columns, terms, rules, static_cast<int>(unit), *worker);
        explorer.explore(budget, control, deadline, lists[static_cast<std::size_t>(unit)]);
        n_scored += explorer.n_scored();
        if (explorer.timed_out()) timed_out = true;
        if (rules.max_parents[static_cast<std::size_t>(unit)] > 0) --n_left;
        control.done.fetch_add(1, std::memory_order_relaxed);
      },
      [](std::unique_ptr<Worker>&) {});
  ScoredSets result;
  result.timed_out = timed_out || control.expired();
  result.n_scored = n_scored;
  result.complete_size = result.timed_out ? 0 : 1;
  sort_families(lists, n_jobs, result);
  return result;
}

}  // namespace twbn
