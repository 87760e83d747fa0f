// One chain of simulated annealing over structures of bounded treewidth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "annealing/board.h"
#include "annealing/candidate_arcs.h"
#include "annealing/dynamic_dag.h"
#include "annealing/elimination_forest.h"
#include "annealing/moral_multigraph.h"
#include "annealing/relations.h"
#include "annealing/window.h"
#include "base/control.h"
#include "base/random.h"
#include "scores/score_lookup.h"

namespace twbn {

/// Geometric cooling over a number of proposals, or until a time (seconds from the start).
struct Cooling {
  double hottest = 1;
  double coldest = 1;
  std::int64_t n_proposals = -1;  // negative: by time
  double seconds = 0;
  int max_parents = std::numeric_limits<int>::max();  // of the families that are proposed
};

/// One chain. The state is a parent set for every vertex. A proposal is first judged by its score,
/// which takes nanoseconds and rejects almost everything; then it must be acyclic, and only then is
/// the width checked, with an elimination forest that is updated along with the structure. A start
/// that keeps the relations stays so.
class AnnealChain {
 public:
  AnnealChain(ScoreLookup& scores, const CandidateArcs& arcs, const WidthLimit& limit,
              const Relations& relations, const ProvedNetwork& start, std::uint64_t seed,
              std::uint64_t stream);

  /// Cool down once, then re-optimise windows. Stops early when `control` expires.
  void run(const Cooling& cooling, Control& control, Board* board = nullptr);
  /// Take over the families in which another structure has changed since `before`, where they gain,
  /// with changes as at a temperature.
  void take_over(const ParentLists& other, const ParentLists& before, double temperature);
  /// The best structure of the chain so far.
  ProvedNetwork best() const;
  /// The structure in which cooling ended, unless that is the best: it may be better somewhere.
  const std::optional<ProvedNetwork>& last() const { return last_; }
  std::int64_t n_accepted() const { return n_accepted_; }

 private:
  using Set = std::vector<std::int32_t>;

  void add_family(std::int32_t v, std::span<const std::int32_t> set, double score);
  void restore_best();
  void load(const ParentLists& parents, std::span<const std::int32_t> order);
  void propose();
  /// A candidate parent of the child, which may be one already: from its list, or, if the list holds
  /// only the most promising ones, also from what is near it in the structure.
  std::int32_t draw_candidate(std::int32_t child);
  void propose_toggle(std::int32_t child);
  void propose_swap(std::int32_t child);
  void propose_from_list(std::int32_t child);
  void propose_reversal(std::int32_t child);
  bool passes(double gain);
  /// Reduces `set` to its best subset that is a candidate of the child; returns its score.
  double best_subset(std::int32_t child, Set& set);
  /// Give `child` the parents in `set`, if that is acyclic and narrow enough; if it is acyclic but
  /// too wide, try it together with the removal of an arc nearby.
  void change(std::int32_t child, const Set& set, double score);
  bool try_change(std::int32_t child, const Set& set, double score, bool& too_wide);
  bool change_with_loss(std::int32_t child, const Set& set, double score);
  /// If that is cyclic, try it together with other parents for the child's children.
  bool change_with_displaced(std::int32_t child, const Set& set, double score);
  bool find_displaced(std::int32_t child, double gain);
  /// Optimise windows of the best structure one after the other, until passes over the structure
  /// bring no improvement.
  void improve_windows(std::int64_t max_windows, Control& control);
  bool improve_window(std::size_t first, std::size_t size);
  void draw_order();
  /// Give several vertices other parents, jointly acyclic; a second call undoes the change.
  void exchange_families();
  bool exchange_if_acyclic();
  void take_group(std::span<const std::int32_t> members, const ParentLists& other);
  bool admit_families();
  bool admit(std::int32_t child, const Set& set);
  bool keeps_relations() { return !relations_ || relations_->holds(dag_); }
  void collect_pairs(std::int32_t child, std::span<const std::int32_t> set);
  void accept(std::int32_t child, double score);
  void note_best();
  void offer_best(Board& board);

  ScoreLookup& scores_;
  const CandidateArcs& arcs_;
  int n_;
  std::size_t max_parents_;  // of any family; then of those that are proposed now
  Random random_;
  DynamicDag dag_;
  MoralMultigraph moral_;
  EliminationForest forest_;
  std::optional<RelationCheck> relations_;
  std::vector<double> local_;
  double score_ = 0;
  double temperature_ = 1;
  std::int64_t n_accepted_ = 0;
  std::int64_t n_since_tightened_ = 0;
  // The best structure, updated only where it changed.
  double best_score_ = 0;
  double offered_score_ = 0;
  std::optional<ProvedNetwork> last_;
  Clock::time_point offered_ = Clock::now();
  ParentLists best_parents_;
  std::vector<std::int32_t> best_forest_;
  std::vector<std::int32_t> changed_;
  std::vector<char> is_changed_;
  // Scratch.
  struct Family {
    std::int32_t vertex;
    double score;
    Set parents;  // the new parents; after `exchange_families`, the old ones
  };
  std::vector<Family> families_;
  std::size_t n_families_ = 0;
  std::vector<Set> next_;
  Set between_;
  std::vector<char> is_between_;
  std::optional<WindowSearch> windows_;
  std::vector<std::int32_t> order_, roots_, stack_, place_;
  Set set_, other_, old_, old_other_, subset_, rest_, lost_;
  std::vector<EliminationForest::Pair> pairs_;
};

}  // namespace twbn
