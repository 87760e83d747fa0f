// Version 2 of the paper's Algorithm 1: an order at random inside a k-tree.
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/numbers.h"
#include "sampling/ktree_sampling.h"

namespace twbn {

namespace {

constexpr std::size_t max_dense_bytes = std::size_t{256} << 20;

/// A best parent set found so far: its members are kept only while a structure is written out.
struct Choice {
  double score = minus_infinity;
  std::vector<std::int32_t> parents;
};

class OrderEvaluator final : public KTreeEvaluator {
 public:
  OrderEvaluator(ScoreLookup& scores, const DenseScores* dense, int n, int k)
      : scores_(scores),
        dense_(dense),
        n_(n),
        k_(k),
        max_parents_(std::min(scores.max_parents(), k)),
        empty_(at(n)),
        best_(at(n)),
        choices_(at(n)),
        members_(at(n - k) * at(k + 1)),
        places_(at(n - k) * at(k + 1)),
        order_(at(k)),
        before_(at(k) + 1),
        family_(at(k) + 1),
        inside_(at(n), 0) {
    for (int v = 0; v < n; ++v) empty_[at(v)] = scores.score(v, {});
    // subset_counts_[m]: parent sets among m candidates.
    for (int m = 0; m <= k; ++m) {
      double count = 0;
      double choose = 1;
      for (int size = 1; size <= std::min(m, max_parents_); ++size) {
        choose *= static_cast<double>(m - size + 1) / size;
        count += choose;
      }
      subset_counts_.push_back(count);
    }
  }

  double evaluate(const KTreeSteps& tree, Random& random, const Control&) override {
    draw_order(tree, random);
    tree_ = &tree;
    best_ = empty_;
    for (std::int32_t step = 0; step < static_cast<std::int32_t>(tree.vertex.size()); ++step) {
      visit<false>(step);
    }
    return std::accumulate(best_.begin(), best_.end(), 0.0);
  }

  std::vector<std::vector<std::int32_t>> parents() override {
    for (std::int32_t v = 0; v < n_; ++v) choices_[at(v)] = {empty_[at(v)], {}};
    for (std::int32_t step = 0; step < static_cast<std::int32_t>(tree_->vertex.size()); ++step) {
      visit<true>(step);
    }
    std::vector<std::vector<std::int32_t>> result;
    for (Choice& choice : choices_) result.push_back(choice.parents);
    return result;
  }

 private:
  // Members of the clique of a step, ascending, and their places in its order.
  std::int32_t* members(std::int32_t step) { return members_.data() + at(step) * at(k_ + 1); }
  std::int32_t* places(std::int32_t step) { return places_.data() + at(step) * at(k_ + 1); }

  // Algorithm 2: a uniform order of the root clique; then each vertex takes a uniform place among
  // the k it is attached to.
  void draw_order(const KTreeSteps& tree, Random& random) {
    std::iota(order_.begin(), order_.end(), 0);
    for (std::int32_t i = k_ - 1; i > 0; --i) {
      std::swap(order_[at(i)], order_[random.below(static_cast<std::uint32_t>(i) + 1)]);
    }
    const auto n_places = static_cast<std::uint32_t>(k_) + 1;
    for (std::int32_t step = 0; step < static_cast<std::int32_t>(tree.vertex.size()); ++step) {
      const std::int32_t v = tree.vertex[at(step)];
      const auto place = static_cast<std::int32_t>(random.below(n_places));
      std::int32_t* to = members(step);
      std::int32_t* to_place = places(step);
      const std::int32_t parent = tree.parent[at(step)];
      const std::int32_t* from = parent < 0 ? tree.root.data() : members(parent);
      const std::int32_t* from_place = parent < 0 ? order_.data() : places(parent);
      const std::int32_t n_from = parent < 0 ? k_ : k_ + 1;
      const std::int32_t dropped = tree.dropped[at(step)];
      std::int32_t gap = k_ + 1;  // the place that the dropped member leaves
      if (parent >= 0) {
        for (std::int32_t i = 0; i < n_from; ++i) gap = from[i] == dropped ? from_place[i] : gap;
      }
      std::int32_t next = 0;
      bool placed = false;
      for (std::int32_t i = 0; i < n_from; ++i) {
        if (from[i] == dropped) continue;
        if (!placed && v < from[i]) {
          to[next] = v;
          to_place[next++] = place;
          placed = true;
        }
        std::int32_t kept = from_place[i] - (from_place[i] > gap ? 1 : 0);
        kept += kept >= place ? 1 : 0;
        to[next] = from[i];
        to_place[next++] = kept;
      }
      if (!placed) {
        to[next] = v;
        to_place[next] = place;
      }
    }
  }

  // The clique of a step adds parent sets of its new vertex, and parent sets with the new vertex of
  // those after it; all others were in the clique it is attached to.
  template <bool keep>
  void visit(std::int32_t step) {
    const std::int32_t* clique = members(step);
    const std::int32_t* place = places(step);
    const std::int32_t v = tree_->vertex[at(step)];
    std::int32_t own = 0;
    for (std::int32_t i = 0; i <= k_; ++i) own = clique[i] == v ? place[i] : own;
    std::int32_t n_before = 0;
    for (std::int32_t i = 0; i <= k_; ++i) {
      before_[at(n_before)] = clique[i];
      n_before += place[i] < own ? 1 : 0;
    }
    consider_subsets<keep>(v, n_before);
    if (tree_->parent[at(step)] < 0 && step == 0) {
      // The first clique also brings the sets among the root clique itself.
      for (std::int32_t i = 0; i <= k_; ++i) {
        if (clique[i] == v) continue;
        consider_subsets<keep>(clique[i], collect(clique, place, place[i], v));
      }
    }
    for (std::int32_t i = 0; i <= k_; ++i) {
      if (place[i] > own) {
        consider_with<keep>(clique[i], v, collect(clique, place, place[i], v));
      }
    }
  }

  // Fills before_ with the members placed before `limit`, without v; returns how many.
  std::int32_t collect(const std::int32_t* clique, const std::int32_t* place, std::int32_t limit,
                       std::int32_t v) {
    std::int32_t count = 0;
    for (std::int32_t i = 0; i <= k_; ++i) {
      before_[at(count)] = clique[i];
      count += place[i] < limit && clique[i] != v ? 1 : 0;
    }
    return count;
  }

  template <bool keep>
  void offer(std::int32_t child, double score, std::initializer_list<std::int32_t> parents) {
    if constexpr (keep) {
      if (score > choices_[at(child)].score) choices_[at(child)] = {score, parents};
    } else {
      best_[at(child)] = std::max(best_[at(child)], score);
    }
  }

  // Non-empty parent sets of `child` among the first n of before_.
  template <bool keep>
  void consider_subsets(std::int32_t child, std::int32_t n) {
    if (!dense_) {
      consider_slowly<keep>(child, -1, n);
      return;
    }
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t a = before_[at(i)];
      offer<keep>(child, dense_->one(child, a), {a});
      if (max_parents_ < 2) continue;
      for (std::int32_t j = i + 1; j < n; ++j) {
        const std::int32_t b = before_[at(j)];
        offer<keep>(child, dense_->two(child, a, b), {a, b});
        if (max_parents_ < 3) continue;
        for (std::int32_t l = j + 1; l < n; ++l) {
          const std::int32_t c = before_[at(l)];
          offer<keep>(child, dense_->three(child, a, b, c), {a, b, c});
        }
      }
    }
  }

  // Parent sets of `child` that consist of v and some of the first n of before_.
  template <bool keep>
  void consider_with(std::int32_t child, std::int32_t v, std::int32_t n) {
    if (!dense_) {
      consider_slowly<keep>(child, v, n);
      return;
    }
    offer<keep>(child, dense_->one(child, v), {v});
    if (max_parents_ < 2) return;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t low = std::min(before_[at(i)], v);
      const std::int32_t high = std::max(before_[at(i)], v);
      offer<keep>(child, dense_->two(child, low, high), {low, high});
      if (max_parents_ < 3) continue;
      for (std::int32_t j = i + 1; j < n; ++j) {
        const std::int32_t b = before_[at(j)];  // before_ ascends: low and b may be out of order
        const std::int32_t top = std::max(high, b);
        const std::int32_t middle = std::max(low, std::min(high, b));
        offer<keep>(child, dense_->three(child, low, middle, top), {low, middle, top});
      }
    }
  }

  // The same for any kind of scores and any size: v is -1 or a member that every set has.
  template <bool keep>
  void consider_slowly(std::int32_t child, std::int32_t v, std::int32_t n) {
    if (max_parents_ == 0) return;
    const ScoreIndex* index = scores_.index();
    // In wide tables most members of a clique are in no parent set of the child at all.
    if (const std::uint64_t* candidates = scores_.candidates(child)) {
      const auto wanted = [&](std::int32_t u) {
        return (candidates[at(u) / 64] >> (static_cast<unsigned>(u) % 64) & 1) != 0;
      };
      if (v >= 0 && !wanted(v)) return;
      std::int32_t left = 0;
      for (std::int32_t i = 0; i < n; ++i) {
        before_[at(left)] = before_[at(i)];
        left += wanted(before_[at(i)]) ? 1 : 0;
      }
      n = left;
      if (v < 0 && n == 0) return;
    }
    if (index) {
      const auto offsets = index->variable_offsets();
      const auto n_sets = static_cast<double>(offsets[at(child) + 1] - offsets[at(child)]);
      if (subset_counts_[at(n)] > n_sets) {
        walk_list<keep>(child, v, n, *index);
        return;
      }
    }
    family_.clear();
    extend_family<keep>(child, v, 0, n, max_parents_ - (v >= 0 ? 1 : 0));
  }

  template <bool keep>
  void extend_family(std::int32_t child, std::int32_t v, std::int32_t from, std::int32_t n,
                     std::int32_t room) {
    if (v >= 0 || !family_.empty()) {
      sorted_ = family_;
      if (v >= 0) sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), v), v);
      take<keep>(child, scores_.score(child, sorted_), sorted_);
    }
    if (room <= 0) return;
    for (std::int32_t i = from; i < n; ++i) {
      family_.push_back(before_[at(i)]);
      extend_family<keep>(child, v, i + 1, n, room - 1);
      family_.pop_back();
    }
  }

  // Best first: the first set whose members are all allowed is the best of them.
  template <bool keep>
  void walk_list(std::int32_t child, std::int32_t v, std::int32_t n, const ScoreIndex& index) {
    for (std::int32_t i = 0; i < n; ++i) inside_[at(before_[at(i)])] = 1;
    if (v >= 0) inside_[at(v)] = 1;
    const auto offsets = index.variable_offsets();
    const double known = keep ? choices_[at(child)].score : best_[at(child)];
    for (std::int64_t set = offsets[at(child)]; set < offsets[at(child) + 1]; ++set) {
      const double score = index.scores()[static_cast<std::size_t>(set)];
      if (score <= known) break;
      const auto parents = index.parents(set);
      if (std::all_of(parents.begin(), parents.end(),
                      [&](std::int32_t p) { return inside_[at(p)] != 0; })) {
        take<keep>(child, score, parents);
        break;
      }
    }
    for (std::int32_t i = 0; i < n; ++i) inside_[at(before_[at(i)])] = 0;
    if (v >= 0) inside_[at(v)] = 0;
  }

  template <bool keep>
  void take(std::int32_t child, double score, std::span<const std::int32_t> parents) {
    if constexpr (keep) {
      if (score > choices_[at(child)].score) {
        choices_[at(child)] = {score, {parents.begin(), parents.end()}};
      }
    } else {
      best_[at(child)] = std::max(best_[at(child)], score);
    }
  }

  ScoreLookup& scores_;
  const DenseScores* dense_;
  int n_;
  int k_;
  int max_parents_;
  std::vector<double> subset_counts_;
  std::vector<double> empty_;
  std::vector<double> best_;
  std::vector<Choice> choices_;
  std::vector<std::int32_t> members_;
  std::vector<std::int32_t> places_;
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> before_;
  std::vector<std::int32_t> family_;
  std::vector<std::int32_t> sorted_;
  std::vector<char> inside_;
  const KTreeSteps* tree_ = nullptr;
};

class OrderEvaluatorFactory final : public KTreeEvaluatorFactory {
 public:
  OrderEvaluatorFactory(ScoreLookup& scores, int n, int k) : scores_(scores), n_(n), k_(k) {
    const ScoreIndex* index = scores.index();
    if (index && DenseScores::fits(n, scores.max_parents(), max_dense_bytes)) {
      dense_.emplace(*index, scores.max_parents());
    }
  }
  std::unique_ptr<KTreeEvaluator> make() const override {
    return std::make_unique<OrderEvaluator>(scores_, dense_ ? &*dense_ : nullptr, n_, k_);
  }
  double vertices_per_second() const override { return 1e7 / (k_ + 1); }

 private:
  ScoreLookup& scores_;
  int n_;
  int k_;
  std::optional<DenseScores> dense_;
};

}  // namespace

std::unique_ptr<KTreeEvaluatorFactory> order_evaluator(ScoreLookup& scores, int n, int k) {
  return std::make_unique<OrderEvaluatorFactory>(scores, n, k);
}

}  // namespace twbn
