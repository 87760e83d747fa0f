// The best structure whose moral graph lies inside a k-tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/control.h"
#include "graphs/clique_orders.h"
#include "graphs/dandelion.h"
#include "scores/score_lookup.h"

namespace twbn {

/// Bytes that the dynamic program needs for one k-tree on n vertices.
double ktree_dp_bytes(int n, int k);

/// Exact dynamic program over a k-tree, after Korhonen and Parviainen (2013).
///
/// An orientation of a chordal graph that is acyclic inside every maximal clique is acyclic. So the
/// state at a separator K is a linear order of K and the subset of K whose parents were chosen
/// below. A clique joins the tables of the cliques that hang from it, one after the other, by a
/// (max, +) subset convolution for every order of its members. Time O(3^k · (k+1)! · n), with loops
/// over the orders innermost so that they run over contiguous arrays; space O(2^k · k! · n).
class KTreeOptimizer {
 public:
  KTreeOptimizer(ScoreLookup& scores, int n, int k);

  /// The score of the best structure inside `tree`; minus infinity if there is none, or when
  /// `control` expires meanwhile.
  double best_score(const KTreeSteps& tree, const Control& control);
  /// The parents of that structure, for the tree optimised last.
  std::vector<std::vector<std::int32_t>> best_parents();

 private:
  struct Clique {
    std::vector<std::int32_t> members;   // ascending
    int own = 0;                         // position of the vertex that the step attached
    std::vector<std::int32_t> children;  // steps that hang from it
    std::vector<double> local;           // [position][mask of the others before it]: best score
    std::vector<double> table;           // [mask of the separator][order of the separator]
  };

  void lay_out(const KTreeSteps& tree);
  void fill_local(Clique& clique);
  void fill_joint(const Clique& clique);
  void join_child(const Clique& clique, const Clique& child);
  void pass_up(Clique& clique);
  void join_root(const std::vector<double>& before, const Clique& root,
                 std::vector<double>& after) const;
  std::vector<double> nothing_joined() const;
  double join_roots();

  int position_left_out(const Clique& clique, const Clique& child) const;
  std::vector<std::int32_t> best_set(const Clique& clique, int position, std::uint32_t before);
  /// A clique to be traced: the order of its separator, and the mask of those decided below it.
  struct Pending {
    std::int32_t step;
    std::size_t separator_order;
    std::uint32_t mask;
  };
  void trace_clique(const Pending& task, std::vector<Pending>& pending,
                    std::vector<std::vector<std::int32_t>>& parents);

  ScoreLookup& scores_;
  int n_;
  int k_;
  std::size_t n_orders_;            // (k+1)!
  std::size_t n_separator_orders_;  // k!
  std::uint32_t n_masks_;           // 2^(k+1)
  CliqueOrders orders_;
  std::vector<Clique> cliques_;
  std::vector<std::int32_t> roots_;
  std::vector<double> joint_;     // [mask of the clique][order]
  std::vector<double> joined_;
  std::vector<double> expanded_;  // a child's table, by order of the clique
};

}  // namespace twbn
