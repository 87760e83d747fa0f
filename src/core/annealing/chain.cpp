#include "annealing/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"

namespace twbn {

namespace {
constexpr std::int64_t proposals_between_looks = 256;  // at clock and temperature
constexpr int attempts_with_loss = 1;                  // when a change is too wide
constexpr std::int64_t proposals_per_window = 500;     // where the budget is in proposals
constexpr double cooling_share = 0.9;                  // of the time; windows have the rest
// Share of candidates that are near the child; the lists of score tables are better guides.
constexpr double near_share_of_table = 0.25, near_share_on_demand = 0.5;
constexpr std::size_t max_subset_parents = 4;          // whose subsets are all looked up

/// `from` without `out` (or -1) and with `in` (or -1), ascending.
void exchange(std::span<const std::int32_t> from, std::int32_t out, std::int32_t in,
              std::vector<std::int32_t>& to) {
  to.clear();
  for (const std::int32_t v : from) {
    if (in >= 0 && in < v) {
      to.push_back(in);
      in = -1;
    }
    if (v != out) to.push_back(v);
  }
  if (in >= 0) to.push_back(in);
}

bool contains(std::span<const std::int32_t> set, std::int32_t v) {
  return std::find(set.begin(), set.end(), v) != set.end();
}
}  // namespace

AnnealChain::AnnealChain(ScoreLookup& scores, const CandidateArcs& arcs,
                         const WidthLimit& limit, const Relations& relations,
                         const ProvedNetwork& start, std::uint64_t seed, std::uint64_t stream)
    : scores_(scores),
      arcs_(arcs),
      n_(scores.n_variables()),
      max_parents_(static_cast<std::size_t>(std::min(scores.max_parents(), limit.k()))),
      random_(seed, stream),
      dag_(n_, static_cast<int>(max_parents_)),
      moral_(n_),
      forest_(moral_, limit),
      local_(static_cast<std::size_t>(n_)),
      best_parents_(start.parents),
      best_forest_(static_cast<std::size_t>(n_), -1),
      is_changed_(static_cast<std::size_t>(n_)),
      families_(WindowSearch::max_size),
      next_(WindowSearch::max_size),
      is_between_(static_cast<std::size_t>(n_)) {
  if (!relations.none()) relations_.emplace(relations, n_);
  if (scores.index() != nullptr) windows_.emplace(*scores.index(), max_parents_);
  load(start.parents, start.order);
  best_score_ = offered_score_ = score_;
  forest_.copy_changes(best_forest_);
}

void AnnealChain::load(const ParentLists& parents, std::span<const std::int32_t> order) {
  score_ = 0;
  for (std::int32_t v = 0; v < n_; ++v) {
    dag_.set_parents(v, parents[at(v)]);
    moral_.add_family(v, parents[at(v)]);
    local_[at(v)] = scores_.score(v, parents[at(v)]);
    score_ += local_[at(v)];
  }
  forest_.build(order);
}

ProvedNetwork AnnealChain::best() const {
  return {best_score_, best_parents_, EliminationForest::order_of(best_forest_)};
}

void AnnealChain::run(const Cooling& cooling, Control& control, Board* board) {
  const double by_cooling = windows_ ? cooling_share : 1.0;
  const std::size_t most_parents = max_parents_;
  max_parents_ = std::min(max_parents_, static_cast<std::size_t>(cooling.max_parents));
  const double ratio = std::log(cooling.coldest / cooling.hottest);
  const auto begun = Clock::now();
  for (std::int64_t done = 0;; done += proposals_between_looks) {
    double fraction = 0;
    if (cooling.n_proposals >= 0) {
      fraction = static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(cooling.n_proposals, 1));
    } else {
      fraction = std::chrono::duration<double>(Clock::now() - begun).count() / (by_cooling * cooling.seconds);
    }
    if (fraction >= 1 || control.expired()) break;
    temperature_ = cooling.hottest * std::exp(ratio * fraction);
    std::int64_t n = proposals_between_looks;
    if (cooling.n_proposals >= 0) n = std::min(n, cooling.n_proposals - done);
    for (std::int64_t i = 0; i < n; ++i) propose();
    control.done.fetch_add(n, std::memory_order_relaxed);
    if (board != nullptr && best_score_ > offered_score_) offer_best(*board);
  }
  max_parents_ = most_parents;
  if (!changed_.empty()) {
    ParentLists parents(at(n_));
    for (std::int32_t v = 0; v < n_; ++v) {
      parents[at(v)].assign(dag_.parents(v).begin(), dag_.parents(v).end());
    }
    last_ = {score_, std::move(parents), forest_.order()};
  }
  const bool by_time = cooling.n_proposals < 0;
  improve_windows(by_time ? std::numeric_limits<std::int64_t>::max()
                          : 1 + cooling.n_proposals / proposals_per_window,
                  control);
}

void AnnealChain::offer_best(Board& board) {
  if (Clock::now() < offered_ + Board::pause) return;
  board.offer(best());
  offered_ = Clock::now();
  offered_score_ = best_score_;
}

void AnnealChain::propose() {
  const auto child = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(n_)));
  const std::uint32_t kind = random_.below(16);
  const std::size_t size = dag_.parents(child).size();
  if (arcs_.of(child).empty() && windows_) return;  // it has no parents in the table
  if (kind < 6) {
    propose_toggle(child);
  } else if (kind < 9) {
    if (size > 0) propose_swap(child);
  } else if (kind < 12) {
    if (size > 0) propose_reversal(child);
  } else {
    propose_from_list(child);
  }
}

bool AnnealChain::passes(double gain) {
  if (gain >= 0) return true;
  if (gain < -40 * temperature_) return false;  // also where a set is not a candidate
  return gain > temperature_ * std::log(random_.uniform() + 1e-300);
}

std::int32_t AnnealChain::draw_candidate(std::int32_t child) {
  const auto candidates = arcs_.of(child);
  const auto n_candidates = static_cast<std::uint32_t>(candidates.size());
  if (!arcs_.ranked()) return candidates[random_.below(n_candidates)];
  if (random_.uniform() < (windows_ ? near_share_of_table : near_share_on_demand)) {
    // Two steps in the moral graph: parents, children, co-parents, and theirs.
    std::int32_t near = child;
    for (int step = 0; step < 2; ++step) {
      const auto links = moral_.links(near);
      if (links.empty()) break;
      near = links[random_.below(static_cast<std::uint32_t>(links.size()))].vertex;
    }
    if (near != child) return near;
  }
  if (candidates.empty()) {  // there was no time for a list
    const auto other = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(n_ - 1)));
    return other < child ? other : other + 1;
  }
  const double draw = random_.uniform();
  return candidates[static_cast<std::size_t>(draw * draw * n_candidates)];
}

void AnnealChain::propose_toggle(std::int32_t child) {
  const std::int32_t u = draw_candidate(child);
  const auto parents = dag_.parents(child);
  if (contains(parents, u)) {
    exchange(parents, u, -1, set_);
    const double rest = best_subset(child, set_);
    if (passes(rest - local_[at(child)])) change(child, set_, rest);
    return;
  }
  if (parents.size() < max_parents_) {
    exchange(parents, -1, u, set_);
  } else {
    const auto out = parents[random_.below(static_cast<std::uint32_t>(parents.size()))];
    exchange(parents, out, u, set_);
  }
  const double score = scores_.score(child, set_);
  if (passes(score - local_[at(child)])) change(child, set_, score);
}

void AnnealChain::propose_swap(std::int32_t child) {
  const std::int32_t u = draw_candidate(child);
  const auto parents = dag_.parents(child);
  if (contains(parents, u)) return;
  const auto out = parents[random_.below(static_cast<std::uint32_t>(parents.size()))];
  exchange(parents, out, u, set_);
  const double score = scores_.score(child, set_);
  if (passes(score - local_[at(child)])) change(child, set_, score);
}

// Proposes another parent set of the child, with a preference for high scores.
void AnnealChain::propose_from_list(std::int32_t child) {
  const ScoreIndex* index = scores_.index();
  if (index == nullptr) return propose_toggle(child);
  const auto first = index->variable_offsets()[at(child)];
  const auto n_sets = index->variable_offsets()[at(child) + 1] - first;
  const double draw = random_.uniform();
  const auto set = first + static_cast<std::int64_t>(static_cast<double>(n_sets) * draw * draw * draw);
  const double score = index->scores()[static_cast<std::size_t>(set)];
  if (!passes(score - local_[at(child)])) return;
  const auto members = index->parents(set);
  if (members.size() > max_parents_) return;
  set_.assign(members.begin(), members.end());
  change(child, set_, score);
}

void AnnealChain::propose_reversal(std::int32_t child) {
  const auto parents = dag_.parents(child);
  const std::int32_t parent = parents[random_.below(static_cast<std::uint32_t>(parents.size()))];
  exchange(parents, parent, -1, set_);
  const auto grandparents = dag_.parents(parent);
  if (grandparents.size() < max_parents_) {
    exchange(grandparents, -1, child, other_);
  } else {
    const auto out =
        grandparents[random_.below(static_cast<std::uint32_t>(grandparents.size()))];
    exchange(grandparents, out, child, other_);
  }
  const double first = best_subset(child, set_);
  if (first == minus_infinity) return;
  const double second = scores_.score(parent, other_);
  if (!passes(first + second - local_[at(child)] - local_[at(parent)])) return;

  old_.assign(parents.begin(), parents.end());
  old_other_.assign(grandparents.begin(), grandparents.end());
  dag_.set_parents(child, set_);
  if (dag_.set_parents(parent, other_)) {
    moral_.remove_family(child, old_);
    moral_.remove_family(parent, old_other_);
    moral_.add_family(child, set_);
    moral_.add_family(parent, other_);
    if (admit(parent, other_)) {  // the child's family only loses a member
      accept(child, first);
      accept(parent, second);
      note_best();
      return;
    }
    moral_.remove_family(child, set_);
    moral_.remove_family(parent, other_);
    moral_.add_family(child, old_);
    moral_.add_family(parent, old_other_);
    dag_.set_parents(parent, old_other_);
  }
  dag_.set_parents(child, old_);
}

void AnnealChain::change(std::int32_t child, const Set& set, double score) {
  bool too_wide = false;
  if (try_change(child, set, score, too_wide)) {
    note_best();
    return;
  }
  if (!too_wide) {
    if (change_with_displaced(child, set, score)) note_best();
    return;
  }
  for (int attempt = 0; attempt < attempts_with_loss; ++attempt) {
    if (change_with_loss(child, set, score)) {
      note_best();
      return;
    }
  }
}

bool AnnealChain::try_change(std::int32_t child, const Set& set, double score, bool& too_wide) {
  const auto parents = dag_.parents(child);
  old_.assign(parents.begin(), parents.end());
  if (!dag_.set_parents(child, set)) return false;
  moral_.remove_family(child, old_);
  moral_.add_family(child, set);
  if (!admit(child, set)) {
    moral_.remove_family(child, set);
    moral_.add_family(child, old_);
    dag_.set_parents(child, old_);
    too_wide = true;
    return false;
  }
  accept(child, score);
  return true;
}

// Removes an arc at one of the family's members, if the gain is worth the loss, and tries again.
bool AnnealChain::change_with_loss(std::int32_t child, const Set& set, double score) {
  const std::uint32_t pick = random_.below(static_cast<std::uint32_t>(set.size()) + 1);
  const std::int32_t member = pick == set.size() ? child : set[pick];
  const auto links = moral_.links(member);
  if (links.empty()) return false;
  std::int32_t loser =
      links[random_.below(static_cast<std::uint32_t>(links.size()))].vertex;
  std::int32_t lost = member;
  if (!contains(dag_.parents(loser), lost)) std::swap(loser, lost);
  if (loser == child || !contains(dag_.parents(loser), lost)) return false;
  exchange(dag_.parents(loser), lost, -1, lost_);
  const double rest = best_subset(loser, lost_);
  const double gain = score - local_[at(child)] + rest - local_[at(loser)];
  if (rest == minus_infinity || !passes(gain)) return false;
  const double before = local_[at(loser)];
  const auto parents = dag_.parents(loser);
  rest_.assign(parents.begin(), parents.end());
  dag_.set_parents(loser, lost_);
  moral_.remove_family(loser, rest_);
  moral_.add_family(loser, lost_);
  bool too_wide = false;
  if (try_change(child, set, score, too_wide)) {
    accept(loser, rest);
    return true;
  }
  moral_.remove_family(loser, lost_);
  moral_.add_family(loser, rest_);
  dag_.set_parents(loser, rest_);
  local_[at(loser)] = before;
  return false;
}

double AnnealChain::best_subset(std::int32_t child, Set& set) {
  double best = scores_.score(child, set);
  if (best > minus_infinity || set.empty()) return best;
  if (set.size() > max_subset_parents) return best;
  const std::uint32_t full = (std::uint32_t{1} << set.size()) - 1;
  std::uint32_t chosen = 0;
  for (std::uint32_t mask = 0; mask < full; ++mask) {
    subset_.clear();
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (mask >> i & 1) subset_.push_back(set[i]);
    }
    const double score = scores_.score(child, subset_);
    if (score > best) {
      best = score;
      chosen = mask;
    }
  }
  std::size_t size = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (chosen >> i & 1) set[size++] = set[i];
  }
  set.resize(size);
  return best;
}

bool AnnealChain::admit(std::int32_t child, const Set& set) {
  if (!keeps_relations()) return false;
  pairs_.clear();
  collect_pairs(child, set);
  return pairs_.empty() || forest_.admit(pairs_, random_);
}

void AnnealChain::collect_pairs(std::int32_t child, std::span<const std::int32_t> set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!forest_.covers(child, set[i])) pairs_.emplace_back(child, set[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (!forest_.covers(set[j], set[i])) pairs_.emplace_back(set[j], set[i]);
    }
  }
}

void AnnealChain::accept(std::int32_t child, double score) {
  score_ += score - local_[at(child)];
  local_[at(child)] = score;
  if (!is_changed_[at(child)]) {
    is_changed_[at(child)] = 1;
    changed_.push_back(child);
  }
  ++n_accepted_;
  if (++n_since_tightened_ > n_) {
    n_since_tightened_ = 0;
    forest_.tighten();
  }
}

void AnnealChain::note_best() {
  if (score_ <= best_score_ + 1e-12 * std::abs(best_score_)) return;
  best_score_ = score_;
  for (const std::int32_t v : changed_) {
    const auto parents = dag_.parents(v);
    best_parents_[at(v)].assign(parents.begin(), parents.end());
    is_changed_[at(v)] = 0;
  }
  changed_.clear();
  forest_.copy_changes(best_forest_);
}

}  // namespace twbn
