// Simulated annealing over networks of bounded treewidth.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "control.h"
#include "dynamic_dag.h"
#include "elimination_forest.h"
#include "moral_multigraph.h"
#include "random.h"
#include "score_lookup.h"
#include "window.h"

namespace twbn {

using ParentLists = std::vector<std::vector<std::int32_t>>;

/// A network with an order of elimination that proves its width.
struct ProvedNetwork {
  double score = 0;
  ParentLists parents;
  std::vector<std::int32_t> order;
};

/// Geometric cooling over a number of proposals, or until a time (seconds from the start).
struct Cooling {
  double hottest = 1;
  double coldest = 1;
  std::int64_t n_proposals = -1;  // negative: by time
  double seconds = 0;
};

/// The best network of all chains so far, for whoever watches a long run.
class Board {
 public:
  static constexpr auto pause = std::chrono::milliseconds(100);  // between a chain's offers
  void offer(const ProvedNetwork& network);
  /// The network, if it is better than the last one that was taken.
  std::optional<ProvedNetwork> take();

 private:
  std::mutex mutex_;
  ProvedNetwork best_{-std::numeric_limits<double>::infinity(), {}, {}};
  bool is_new_ = false;
};

/// Candidate parents of every variable, shared by the chains of one run.
class CandidateArcs {
 public:
  explicit CandidateArcs(const ScoreLookup& scores);
  std::span<const std::int32_t> of(int child) const {
    const auto first = offsets_[static_cast<std::size_t>(child)];
    return std::span(vertices_).subspan(first, offsets_[static_cast<std::size_t>(child) + 1] - first);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> vertices_;
};

/// One chain. The state is a parent set for every vertex. A proposal is judged by its score first,
/// which costs nanoseconds and rejects almost everything; then it must be acyclic, and only then
/// the width is looked at, along an elimination forest that follows the network.
class AnnealChain {
 public:
  AnnealChain(ScoreLookup& scores, const CandidateArcs& arcs, int k, const ProvedNetwork& start,
              std::uint64_t seed, std::uint64_t stream);

  /// Cool down once, then re-optimise windows. Stops early when `control` expires.
  void run(const Cooling& cooling, Control& control, Board* board = nullptr);
  /// The best network of the chain so far.
  ProvedNetwork best() const;
  std::int64_t n_accepted() const { return n_accepted_; }

 private:
  using Set = std::vector<std::int32_t>;

  void add_family(std::int32_t v, std::span<const std::int32_t> set, double score);
  void restore_best();
  void load(const ParentLists& parents, std::span<const std::int32_t> order);
  void propose();
  void propose_toggle(std::int32_t child);
  void propose_swap(std::int32_t child);
  void propose_from_list(std::int32_t child);
  void propose_reversal(std::int32_t child);
  bool passes(double gain);
  /// The best subset of `set` that is a candidate of the child, into `set`; its score.
  double best_subset(std::int32_t child, Set& set);
  /// Give `child` the parents in `set`, if that is acyclic and narrow enough; if it is only too
  /// wide, together with the loss of an arc nearby.
  void change(std::int32_t child, const Set& set, double score);
  bool try_change(std::int32_t child, const Set& set, double score, bool& too_wide);
  bool change_with_loss(std::int32_t child, const Set& set, double score);
  /// If it is cyclic, together with other parents for the child's children.
  bool change_with_displaced(std::int32_t child, const Set& set, double score);
  bool find_displaced(std::int32_t child, double gain);
  /// Bring windows of the best network to their optimum, one after the other, until passes over
  /// the network bring nothing.
  void improve_windows(std::int64_t max_windows, Control& control);
  bool improve_window(std::size_t first, std::size_t size);
  void draw_order();
  /// Give several vertices other parents, which are acyclic together; again to take it back.
  void exchange_families();
  bool admit_families();
  bool admit(std::int32_t child, const Set& set);
  void collect_pairs(std::int32_t child, std::span<const std::int32_t> set);
  void accept(std::int32_t child, double score);
  void note_best();
  void offer_best(Board& board);

  ScoreLookup& scores_;
  const CandidateArcs& arcs_;
  int n_;
  std::size_t max_parents_;
  Random random_;
  DynamicDag dag_;
  MoralMultigraph moral_;
  EliminationForest forest_;
  std::vector<double> local_;
  double score_ = 0;
  double temperature_ = 1;
  std::int64_t n_accepted_ = 0;
  std::int64_t n_since_tightened_ = 0;
  // The best network, brought up to date only where it changed.
  double best_score_ = 0;
  double offered_score_ = 0;
  Clock::time_point offered_ = Clock::now();
  ParentLists best_parents_;
  std::vector<std::int32_t> best_forest_;
  std::vector<std::int32_t> changed_;
  std::vector<char> is_changed_;
  // Scratch.
  struct Family {
    std::int32_t vertex;
    double score;
    Set parents;  // the ones to have; after `exchange_families` the ones it had
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
