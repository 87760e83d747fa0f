#include "sampling/ktree_dp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "base/numbers.h"

namespace twbn {

namespace {

/// to[i] = max(to[i], a[i] + b[i])
void join(const double* a, const double* b, double* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = a[i] + b[i];
    to[i] = to[i] < sum ? sum : to[i];
  }
}

}  // namespace

double ktree_dp_bytes(int n, int k) {
  const double separator = factorial(k) * static_cast<double>(std::uint64_t{1} << k);
  const double clique = factorial(k + 1) * static_cast<double>(std::uint64_t{2} << k);
  const double local = static_cast<double>(k + 1) * static_cast<double>(std::uint64_t{2} << k);
  return 8 * (n * (2 * separator + local) + 2.5 * clique) + 8 * (k + 1) * factorial(k + 1);
}

KTreeOptimizer::KTreeOptimizer(ScoreLookup& scores, int n, int k)
    : scores_(scores),
      n_(n),
      k_(k),
      n_orders_(static_cast<std::size_t>(factorial(k + 1))),
      n_separator_orders_(static_cast<std::size_t>(factorial(k))),
      n_masks_(std::uint32_t{2} << k),
      orders_(k + 1) {
  joint_.resize(n_masks_ * n_orders_);
  joined_.resize(n_masks_ * n_orders_);
  expanded_.resize(n_masks_ / 2 * n_orders_);
}

double KTreeOptimizer::best_score(const KTreeSteps& tree, const Control& control) {
  lay_out(tree);
  // Children come after their parents: walk back to front.
  for (std::size_t step = cliques_.size(); step-- > 0;) {
    if (control.expired()) return minus_infinity;
    Clique& clique = cliques_[step];
    fill_local(clique);
    fill_joint(clique);
    for (const std::int32_t child : clique.children) join_child(clique, cliques_[at(child)]);
    pass_up(clique);
  }
  return join_roots();
}

void KTreeOptimizer::lay_out(const KTreeSteps& tree) {
  cliques_.resize(tree.vertex.size());
  roots_.clear();
  for (std::size_t step = 0; step < tree.vertex.size(); ++step) {
    Clique& clique = cliques_[step];
    clique.children.clear();
    const std::int32_t parent = tree.parent[step];
    clique.members = parent < 0 ? tree.root : cliques_[at(parent)].members;
    if (parent >= 0) {
      clique.members.erase(
          std::find(clique.members.begin(), clique.members.end(), tree.dropped[step]));
      cliques_[at(parent)].children.push_back(static_cast<std::int32_t>(step));
    } else {
      roots_.push_back(static_cast<std::int32_t>(step));
    }
    const auto place = std::upper_bound(clique.members.begin(), clique.members.end(),
                                        tree.vertex[step]);
    clique.own = static_cast<int>(place - clique.members.begin());
    clique.members.insert(place, tree.vertex[step]);
  }
}

// local[position][mask]: the best parent set of a member inside each subset of the clique.
void KTreeOptimizer::fill_local(Clique& clique) {
  const int max_parents = std::min(scores_.max_parents(), k_);
  clique.local.assign(at(k_ + 1) * n_masks_, minus_infinity);
  std::vector<std::int32_t> parents;
  for (int position = 0; position <= k_; ++position) {
    double* best = clique.local.data() + at(position) * n_masks_;
    const std::uint32_t own = std::uint32_t{1} << position;
    for (std::uint32_t mask = 0; mask < n_masks_; ++mask) {
      if (mask & own) continue;
      double value = minus_infinity;
      if (std::popcount(mask) <= max_parents) {
        parents.clear();
        for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
          parents.push_back(clique.members[static_cast<std::size_t>(std::countr_zero(rest))]);
        }
        value = scores_.score(clique.members[at(position)], parents);
      }
      for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
        value = std::max(value, best[mask & ~(rest & -rest)]);
      }
      best[mask] = value;
    }
  }
}

// joint[mask][order]: the members in `mask` take their parents in this clique.
void KTreeOptimizer::fill_joint(const Clique& clique) {
  std::fill_n(joint_.begin(), n_orders_, 0.0);
  for (std::uint32_t mask = 1; mask < n_masks_; ++mask) {
    const int position = std::countr_zero(mask);
    const double* less = joint_.data() + (mask & (mask - 1)) * n_orders_;
    const double* best = clique.local.data() + at(position) * n_masks_;
    const std::uint32_t* before = orders_.before(position).data();
    double* to = joint_.data() + mask * n_orders_;
    for (std::size_t order = 0; order < n_orders_; ++order) to[order] = less[order] + best[before[order]];
  }
}

int KTreeOptimizer::position_left_out(const Clique& clique, const Clique& child) const {
  const auto member = [&](std::size_t i) {  // of the child's separator
    return child.members[i + (i >= at(child.own) ? 1 : 0)];
  };
  for (std::size_t i = 0; i < at(k_); ++i) {
    if (member(i) != clique.members[i]) return static_cast<int>(i);
  }
  return k_;
}

void KTreeOptimizer::join_child(const Clique& clique, const Clique& child) {
  const int out = position_left_out(clique, child);
  const std::uint32_t n_child_masks = n_masks_ / 2;
  const std::uint32_t* without = orders_.without(out).data();
  for (std::uint32_t mask = 0; mask < n_child_masks; ++mask) {
    const double* from = child.table.data() + mask * n_separator_orders_;
    double* to = expanded_.data() + mask * n_orders_;
    for (std::size_t order = 0; order < n_orders_; ++order) to[order] = from[without[order]];
  }
  std::fill(joined_.begin(), joined_.end(), minus_infinity);
  for (std::uint32_t mask = 0; mask < n_child_masks; ++mask) {
    const std::uint32_t below = expand_mask(mask, out);
    const std::uint32_t free = (n_masks_ - 1) & ~below;
    const double* add = expanded_.data() + mask * n_orders_;
    for (std::uint32_t here = free;; here = (here - 1) & free) {
      join(joint_.data() + here * n_orders_, add, joined_.data() + (here | below) * n_orders_,
           n_orders_);
      if (here == 0) break;
    }
  }
  joint_.swap(joined_);
}

// The vertex of this step is forgotten: its parents are chosen and its best place is taken.
void KTreeOptimizer::pass_up(Clique& clique) {
  const std::uint32_t n_up = n_masks_ / 2;
  clique.table.assign(n_up * n_separator_orders_, minus_infinity);
  const std::uint32_t* without = orders_.without(clique.own).data();
  for (std::uint32_t mask = 0; mask < n_up; ++mask) {
    const std::uint32_t full = expand_mask(mask, clique.own) | (std::uint32_t{1} << clique.own);
    const double* from = joint_.data() + full * n_orders_;
    double* to = clique.table.data() + mask * n_separator_orders_;
    for (std::size_t order = 0; order < n_orders_; ++order) {
      to[without[order]] = std::max(to[without[order]], from[order]);
    }
  }
}

// Adds the share of one clique that hangs from the root clique, for every order of the latter.
void KTreeOptimizer::join_root(const std::vector<double>& before, const Clique& root,
                               std::vector<double>& after) const {
  after.assign(before.size(), minus_infinity);
  for (std::uint32_t whole = 0; whole < n_masks_ / 2; ++whole) {
    for (std::uint32_t below = whole;; below = (below - 1) & whole) {
      join(before.data() + (whole & ~below) * n_separator_orders_,
           root.table.data() + below * n_separator_orders_,
           after.data() + whole * n_separator_orders_, n_separator_orders_);
      if (below == 0) break;
    }
  }
}

std::vector<double> KTreeOptimizer::nothing_joined() const {
  std::vector<double> table(n_masks_ / 2 * n_separator_orders_, minus_infinity);
  std::fill_n(table.begin(), n_separator_orders_, 0.0);
  return table;
}

// At the root clique all members must have chosen.
double KTreeOptimizer::join_roots() {
  std::vector<double> all = nothing_joined();
  std::vector<double> next;
  for (const std::int32_t root : roots_) {
    join_root(all, cliques_[at(root)], next);
    all.swap(next);
  }
  return *std::max_element(all.end() - static_cast<std::ptrdiff_t>(n_separator_orders_), all.end());
}

std::vector<std::vector<std::int32_t>> KTreeOptimizer::best_parents() {
  const std::uint32_t n_up = n_masks_ / 2;
  std::vector<std::vector<double>> stages(roots_.size() + 1);
  stages[0] = nothing_joined();
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    join_root(stages[r], cliques_[at(roots_[r])], stages[r + 1]);
  }
  const double* finals = stages.back().data() + (n_up - 1) * n_separator_orders_;
  const auto order = static_cast<std::size_t>(
      std::max_element(finals, finals + n_separator_orders_) - finals);
  std::vector<std::vector<std::int32_t>> parents(at(n_));
  std::vector<Pending> pending;  // a stack of our own: trees may be as deep as they are large
  std::uint32_t mask = n_up - 1;
  for (std::size_t r = roots_.size(); r-- > 0;) {
    const std::vector<double>& table = cliques_[at(roots_[r])].table;
    const double target = stages[r + 1][mask * n_separator_orders_ + order];
    for (std::uint32_t below = mask;; below = (below - 1) & mask) {
      if (stages[r][(mask & ~below) * n_separator_orders_ + order] +
              table[below * n_separator_orders_ + order] ==
          target) {
        pending.push_back({roots_[r], order, below});
        mask &= ~below;
        break;
      }
      if (below == 0) break;
    }
  }
  while (!pending.empty()) {
    const Pending task = pending.back();
    pending.pop_back();
    trace_clique(task, pending, parents);
  }
  return parents;
}

// The choices inside one clique for a given order of its separator and mask of decided members.
void KTreeOptimizer::trace_clique(const Pending& task, std::vector<Pending>& pending,
                                  std::vector<std::vector<std::int32_t>>& parents) {
  const auto [step, separator_order, mask] = task;
  const Clique& clique = cliques_[at(step)];
  const std::uint32_t full = expand_mask(mask, clique.own) | (std::uint32_t{1} << clique.own);
  const double target = clique.table[mask * n_separator_orders_ + separator_order];
  const std::size_t n_children = clique.children.size();
  std::vector<std::vector<double>> stages(n_children + 1, std::vector<double>(n_masks_));
  for (std::size_t order = 0; order < n_orders_; ++order) {
    if (orders_.without(clique.own)[order] != separator_order) continue;
    // This order alone: the same sums as in fill_joint and join_child.
    stages[0][0] = 0.0;
    for (std::uint32_t here = 1; here < n_masks_; ++here) {
      const int position = std::countr_zero(here);
      stages[0][here] = stages[0][here & (here - 1)] +
                        clique.local[at(position) * n_masks_ + orders_.before(position)[order]];
    }
    for (std::size_t c = 0; c < n_children; ++c) {
      const Clique& child = cliques_[at(clique.children[c])];
      const int out = position_left_out(clique, child);
      const std::size_t child_order = orders_.without(out)[order];
      std::fill(stages[c + 1].begin(), stages[c + 1].end(), minus_infinity);
      for (std::uint32_t below = 0; below < n_masks_ / 2; ++below) {
        const std::uint32_t wide = expand_mask(below, out);
        const std::uint32_t free = (n_masks_ - 1) & ~wide;
        const double add = child.table[below * n_separator_orders_ + child_order];
        for (std::uint32_t here = free;; here = (here - 1) & free) {
          double& to = stages[c + 1][here | wide];
          to = std::max(to, stages[c][here] + add);
          if (here == 0) break;
        }
      }
    }
    if (stages[n_children][full] != target) continue;
    std::uint32_t left = full;
    for (std::size_t c = n_children; c-- > 0;) {
      const Clique& child = cliques_[at(clique.children[c])];
      const int out = position_left_out(clique, child);
      const std::size_t child_order = orders_.without(out)[order];
      const double wanted = stages[c + 1][left];
      for (std::uint32_t below = 0; below < n_masks_ / 2; ++below) {
        const std::uint32_t wide = expand_mask(below, out);
        if ((wide & ~left) != 0) continue;
        if (stages[c][left & ~wide] + child.table[below * n_separator_orders_ + child_order] ==
            wanted) {
          pending.push_back({clique.children[c], child_order, below});
          left &= ~wide;
          break;
        }
      }
    }
    for (std::uint32_t rest = left; rest; rest &= rest - 1) {
      const int position = std::countr_zero(rest);
      parents[at(clique.members[at(position)])] =
          best_set(clique, position, orders_.before(position)[order]);
    }
    return;
  }
}

std::vector<std::int32_t> KTreeOptimizer::best_set(const Clique& clique, int position,
                                                   std::uint32_t before) {
  const double* best = clique.local.data() + at(position) * n_masks_;
  std::uint32_t mask = before;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {  // drop members that add nothing
    const std::uint32_t bit = rest & -rest;
    if (best[mask & ~bit] == best[before]) mask &= ~bit;
  }
  std::vector<std::int32_t> parents;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    parents.push_back(clique.members[static_cast<std::size_t>(std::countr_zero(rest))]);
  }
  return parents;
}

}  // namespace twbn
