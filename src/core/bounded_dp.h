// The best network of bounded treewidth, exactly, over all k-trees at once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "clique_orders.h"
#include "control.h"
#include "subset_dp.h"

namespace twbn {

enum class DpOutcome { solved, stopped, out_of_memory };

/// Largest number of variables that `BoundedDp` takes.
inline constexpr int max_dp_variables = 24;

/// Dynamic programme over states (bag, vertices below it, bag members that have their parents,
/// order of the bag), after Korhonen and Parviainen (2013).
///
/// A bag has k + 1 members. Its state grows from nothing by giving members parents inside the bag
/// (before them in the order), forgetting a member that has its parents, introducing another
/// vertex, and joining states of one bag with disjoint vertices below. A state whose score plus
/// the best completion without any treewidth bound does not exceed `lower_bound` is dropped; with
/// -infinity nothing is, and the run is Korhonen and Parviainen's. What is below a bag is out of
/// reach for the rest, so completions take their parents from outside it: one table of subsets for
/// each set below, made when it is first met (3^n entries in all); for many variables the one table
/// of SubsetTables::to_go, which is weaker, has to do.
class BoundedDp {
 public:
  BoundedDp(const SubsetTables& tables, int k, double lower_bound, std::int64_t max_bytes);

  DpOutcome run(Control& control);
  /// The best score above `lower_bound`; minus infinity if there is none.
  double score() const { return best_; }
  /// The mask of parents of each vertex of the best network, and an elimination order of width at
  /// most k of its moral graph. Call after `solved`, when there is one.
  void trace(std::vector<std::uint32_t>& parents, std::vector<std::int32_t>& order) const;
  std::int64_t n_states() const { return n_states_; }

 private:
  struct State {
    std::uint32_t order;
    std::uint32_t placed;
    double score;
  };
  using States = std::vector<State>;
  struct Key {
    std::uint32_t bag;
    std::uint32_t below;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = (std::uint64_t{key.bag} << 32 | key.below) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
      return hash * 0xbf58476d1ce4e5b9ULL >> 7;
    }
  };
  using Table = std::unordered_map<Key, States, KeyHash>;
  /// Scratch: the best score of every (order, placed) of one bag.
  struct Grid {
    std::vector<double> scores;
    std::vector<std::uint32_t> touched;
  };

  std::vector<int> members(std::uint32_t bag) const;
  std::uint32_t spread(const std::vector<int>& who, std::uint32_t mask) const;
  bool promising(double score, std::uint32_t below, std::uint32_t placed) const;
  const std::vector<double>& completions(std::uint32_t below) const;
  void offer(Grid& grid, std::uint32_t order, std::uint32_t placed, double score) const;
  States collect(Grid& grid, const std::vector<int>& who, std::uint32_t below) const;

  States branch(std::uint32_t bag, std::uint32_t below) const;
  void offer_joins(Grid& grid, std::uint32_t bag, std::uint32_t left, std::uint32_t right) const;
  States placed(std::uint32_t bag, std::uint32_t below, const States& from) const;
  bool run_level(int size, Control& control);
  void keep(std::uint32_t bag, std::uint32_t below, States&& states);
  void compact(States& states) const;
  void forget(std::uint32_t bag, std::uint32_t below, const States& from);
  double local(const std::vector<int>& who, int position, std::uint32_t order) const;

  void trace_placed(std::uint32_t bag, std::uint32_t below, State state) const;
  void trace_joined(std::uint32_t bag, std::uint32_t below, State state) const;
  void trace_branch(std::uint32_t bag, std::uint32_t below, State state) const;
  void trace_separator(std::uint32_t separator, std::uint32_t below, State state) const;

  const SubsetTables& tables_;
  int n_;
  int k_;
  double lower_bound_;
  std::int64_t max_bytes_;
  CliqueOrders orders_;
  std::uint32_t n_masks_;
  mutable Grid grid_;
  mutable std::unordered_map<std::uint32_t, std::vector<double>> completions_;
  Table separators_;                           // after a vertex was forgotten
  Table branches_;                             // introduced into a bag, nothing joined
  Table joined_;                               // branches joined, nothing placed at this bag
  // For each bag, by size: the sets below it that have states.
  using BySize = std::vector<std::vector<std::uint32_t>>;
  std::unordered_map<std::uint32_t, BySize> branch_sizes_;
  std::unordered_map<std::uint32_t, BySize> joined_sizes_;
  // What a trace has found so far.
  mutable std::vector<std::uint32_t> traced_parents_;
  mutable std::vector<std::int32_t> traced_order_;
  double best_;
  std::uint32_t best_bag_ = 0;
  std::uint32_t best_order_ = 0;
  std::int64_t n_states_ = 0;
};

}  // namespace twbn
