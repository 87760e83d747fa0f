// The optimal structure of bounded treewidth, by dynamic programming over all k-trees at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/control.h"
#include "exact/subset_dp.h"
#include "graphs/clique_orders.h"

namespace twbn {

enum class DpOutcome { solved, stopped, out_of_memory };

/// Largest number of variables that `BoundedDp` takes.
inline constexpr int max_dp_variables = 24;

/// Dynamic program over states (bag, vertices below it, bag members that have their parents, order
/// of the bag), after Korhonen and Parviainen (2013).
///
/// A bag has k + 1 members. States are built up from empty ones by giving members parents inside
/// the bag (before them in the order), forgetting a member that has its parents, introducing
/// another vertex, and joining states of one bag with disjoint sets of vertices below. A state is
/// dropped if its score plus the best completion without any treewidth limit does not exceed
/// `lower_bound`; with -infinity no state is dropped, which is Korhonen and Parviainen's algorithm.
/// Vertices below a bag cannot be parents of the remaining vertices, so completions take their
/// parents from outside: there is one table of subsets for each set below, made when it is first
/// met (3^n entries in all). For many variables, the single table of SubsetTables::to_go, which is
/// weaker, is used instead.
class BoundedDp {
 public:
  BoundedDp(const SubsetTables& tables, int k, double lower_bound, std::int64_t max_bytes);
  ~BoundedDp();

  DpOutcome run(int n_jobs, Control& control);
  /// The best score above `lower_bound`; minus infinity if there is none.
  double score() const { return best_; }
  /// The mask of parents of each vertex of the best structure, and an elimination order of width at
  /// most k of its moral graph. Call after `solved`, if a structure was found.
  void trace(std::vector<std::uint32_t>& parents, std::vector<std::int32_t>& order) const;
  std::int64_t n_states() const { return n_states_; }

 private:
  struct State {
    std::uint32_t order;
    std::uint32_t placed;
    double score;
  };
  using States = std::vector<State>;  // by order, then by placed
  struct Entry {
    std::uint32_t below;
    States states;
  };
  using BySize = std::vector<std::vector<Entry>>;  // by number of vertices below; ascending
  struct Bag {
    std::uint32_t mask;
    BySize branches;  // a vertex introduced, nothing joined
    BySize joined;    // branches joined, nothing placed at this bag
  };
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
  using Separators = std::unordered_map<Key, States, KeyHash>;
  class Worker;  // what one thread does with one bag
  struct Tracer;

  static std::vector<int> members(std::uint32_t bag);
  void compact(States& states) const;
  /// The score that a state must exceed to be kept, by mask of placed members.
  void thresholds(const std::vector<int>& who, std::uint32_t below, std::vector<double>& to) const;
  std::shared_ptr<const std::vector<double>> completions(std::uint32_t below) const;
  void add_bags();
  bool run_level(int size, int n_jobs, Control& control);
  std::vector<std::vector<std::uint32_t>> wanted(const Separators& separators) const;

  const SubsetTables& tables_;
  int n_;
  int k_;
  double lower_bound_;
  std::int64_t max_bytes_;
  CliqueOrders orders_;
  std::uint32_t n_masks_;
  mutable std::shared_mutex completions_mutex_;
  mutable std::unordered_map<std::uint32_t, std::shared_ptr<const std::vector<double>>> completions_;
  std::vector<Bag> bags_;                                   // by mask
  std::unordered_map<std::uint32_t, std::size_t> bag_at_;   // where a mask stands in them
  std::vector<Separators> separators_;  // after a vertex was forgotten, by number below
  double best_;
  std::uint32_t best_bag_ = 0;
  std::uint32_t best_order_ = 0;
  std::int64_t n_states_ = 0;
  mutable std::atomic<std::int64_t> n_bytes_{0};
  std::atomic<bool> out_of_memory_{false};
};

}  // namespace twbn
