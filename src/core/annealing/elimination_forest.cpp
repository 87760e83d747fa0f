#include "annealing/elimination_forest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/control.h"
#include "base/numbers.h"
#include "graphs/elimination.h"

namespace twbn {

namespace {
/// What rebuilding may cost before paths have cost as much: a few times that of a small graph.
constexpr std::int64_t most_in_advance = 4'000'000;
constexpr char on_path = 1;
constexpr char from_end = 2;
constexpr char from_top = 3;

}  // namespace

EliminationForest::EliminationForest(const MoralMultigraph& graph, const WidthLimit& limit)
    : graph_(graph),
      limit_(limit),
      n_(graph.n_vertices()),
      k_(limit.k()),
      upper_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(k_)),
      n_upper_(static_cast<std::size_t>(n_)),
      parent_(static_cast<std::size_t>(n_), -1),
      first_child_(static_cast<std::size_t>(n_), -1),
      next_(static_cast<std::size_t>(n_), -1),
      previous_(static_cast<std::size_t>(n_), -1),
      is_changed_(static_cast<std::size_t>(n_)),
      mark_(static_cast<std::size_t>(n_)),
      local_(static_cast<std::size_t>(n_), -1) {}

void EliminationForest::attach(std::int32_t v, std::int32_t parent) {
  parent_[at(v)] = parent;
  if (!is_changed_[at(v)]) {
    is_changed_[at(v)] = 1;
    changed_.push_back(v);
  }
  if (parent < 0) return;
  const std::int32_t sibling = first_child_[at(parent)];
  next_[at(v)] = sibling;
  previous_[at(v)] = -1;
  if (sibling >= 0) previous_[at(sibling)] = v;
  first_child_[at(parent)] = v;
}

void EliminationForest::detach(std::int32_t v) {
  const std::int32_t parent = parent_[at(v)];
  if (parent < 0) return;
  if (previous_[at(v)] >= 0) {
    next_[at(previous_[at(v)])] = next_[at(v)];
  } else {
    first_child_[at(parent)] = next_[at(v)];
  }
  if (next_[at(v)] >= 0) previous_[at(next_[at(v)])] = previous_[at(v)];
  parent_[at(v)] = -1;
}

// Walks up the order: the upper neighbours of a vertex are its later neighbours in the graph and
// those passed on by its children.
bool EliminationForest::build(std::span<const std::int32_t> order) {
  std::vector<std::int32_t> rank(static_cast<std::size_t>(n_));
  for (std::size_t i = 0; i < order.size(); ++i) rank[at(order[i])] = static_cast<std::int32_t>(i);
  std::vector<std::vector<std::int32_t>> handed(static_cast<std::size_t>(n_));
  std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(n_));
  for (const std::int32_t v : order) {
    std::vector<std::int32_t>& mine = handed[at(v)];
    for (const auto& link : graph_.links(v)) {
      if (rank[at(link.vertex)] > rank[at(v)]) mine.push_back(link.vertex);
    }
    std::sort(mine.begin(), mine.end(),
              [&](std::int32_t a, std::int32_t b) { return rank[at(a)] < rank[at(b)]; });
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    if (!limit_.allows(v, mine)) return false;
    if (mine.size() > 1) {
      auto& next = handed[at(mine[0])];
      next.insert(next.end(), mine.begin() + 1, mine.end());
    }
    found[at(v)] = std::move(mine);
  }
  std::fill(first_child_.begin(), first_child_.end(), -1);
  for (std::int32_t v = 0; v < n_; ++v) {
    const auto& mine = found[at(v)];
    std::copy(mine.begin(), mine.end(), upper(v));
    n_upper_[at(v)] = static_cast<std::int32_t>(mine.size());
    attach(v, mine.empty() ? -1 : mine[0]);
  }
  return true;
}

void EliminationForest::copy_changes(std::vector<std::int32_t>& parents) {
  for (const std::int32_t v : changed_) {
    parents[at(v)] = parent_[at(v)];
    is_changed_[at(v)] = 0;
  }
  changed_.clear();
}

std::vector<std::int32_t> EliminationForest::order_of(std::span<const std::int32_t> parents) {
  // A vertex is ready when its last child is done.
  std::vector<std::int32_t> waiting(parents.size(), 0);
  for (const std::int32_t parent : parents) {
    if (parent >= 0) ++waiting[at(parent)];
  }
  std::vector<std::int32_t> order;
  order.reserve(parents.size());
  for (std::size_t v = 0; v < parents.size(); ++v) {
    if (waiting[v] == 0) order.push_back(static_cast<std::int32_t>(v));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int32_t parent = parents[at(order[i])];
    if (parent >= 0 && --waiting[at(parent)] == 0) order.push_back(parent);
  }
  return order;
}

void EliminationForest::tighten() { build(order_of(parent_)); }

bool EliminationForest::admit(std::span<const Pair> pairs, Random& random) {
  collect_paths(pairs);
  const auto size = static_cast<std::int64_t>(paths_.size());
  path_cost_ += size * size + 16;
  const bool done = rearrange(random);
  for (const std::int32_t v : paths_) mark_[at(v)] = 0;
  if (done) return true;
  const std::int64_t cost = std::int64_t{n_} * n_;
  if (rebuild_cost_ + cost > path_cost_ / 2 + std::min(4 * cost, most_in_advance)) return false;
  rebuild_cost_ += cost;
  return rebuild(random);
}

// Finds the smallest part of the forest that joins the ends of the pairs.
void EliminationForest::collect_paths(std::span<const Pair> pairs) {
  paths_.assign(1, pairs[0].first);
  top_ = pairs[0].first;
  mark_[at(top_)] = on_path;
  for (const auto& [a, b] : pairs) {
    add_path(a);
    add_path(b);
  }
}

// Climbs alternately from a new end and from the top, until one meets the path of the other.
void EliminationForest::add_path(std::int32_t end) {
  if (mark_[at(end)] == on_path) return;
  from_end_.assign(1, end);
  from_top_.clear();
  mark_[at(end)] = from_end;
  std::int32_t a = end;
  std::int32_t b = top_;
  std::int32_t meeting = -1;
  while (meeting < 0 && (a >= 0 || b >= 0)) {
    if (a >= 0) {
      a = parent_[at(a)];
      if (a >= 0 && mark_[at(a)] != 0) {
        meeting = a;
        break;
      }
      if (a >= 0) {
        mark_[at(a)] = from_end;
        from_end_.push_back(a);
      }
    }
    if (b >= 0) {
      b = parent_[at(b)];
      if (b >= 0 && mark_[at(b)] != 0) {
        meeting = b;
        break;
      }
      if (b >= 0) {
        mark_[at(b)] = from_top;
        from_top_.push_back(b);
      }
    }
  }
  // What lies above the meeting point belongs to neither path.
  const char where = meeting < 0 ? char{0} : mark_[at(meeting)];
  for (auto* way : {&from_end_, &from_top_}) {
    const bool met_here = meeting >= 0 && where == (way == &from_end_ ? from_end : from_top);
    bool kept = !(way == &from_top_ && where == on_path);
    for (const std::int32_t v : *way) {
      mark_[at(v)] = 0;
      if (!kept) continue;
      mark_[at(v)] = on_path;
      paths_.push_back(v);
      if (met_here && v == meeting) kept = false;
    }
  }
  if (meeting < 0) {
    top_ = -1;
  } else if (where != on_path) {
    top_ = meeting;
  }
}

bool EliminationForest::rearrange(Random& random) {
  torso_ = paths_;
  if (top_ >= 0) {
    for (const std::int32_t v : uppers(top_)) torso_.push_back(v);
  }
  const std::size_t size = torso_.size();
  if (size > 64 * max_words) return false;
  if (size <= 64) return eliminate_torso<1>(random);
  if (size <= 128) return eliminate_torso<2>(random);
  if (size <= 256) return eliminate_torso<4>(random);
  return eliminate_torso<max_words>(random);
}

// Eliminates the paths greedily by least fill-in among the vertices whose bags are within the limit;
// vertices above the top come last.
template <int words>
bool EliminationForest::eliminate_torso(Random& random) {
  using Row = std::array<std::uint64_t, words>;
  const std::size_t size = torso_.size();
  const std::size_t n_paths = paths_.size();
  rows_.assign(size * words, 0);
  auto* rows = reinterpret_cast<Row*>(rows_.data());
  const auto join = [&](std::int32_t a, std::int32_t b) {
    rows[a][at(b >> 6)] |= std::uint64_t{1} << (b & 63);
    rows[b][at(a >> 6)] |= std::uint64_t{1} << (a & 63);
  };
  for (std::size_t i = 0; i < size; ++i) local_[at(torso_[i])] = static_cast<std::int32_t>(i);
  for (std::size_t i = n_paths; i < size; ++i) {
    for (std::size_t j = n_paths; j < i; ++j) {
      join(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
    }
  }
  for (std::size_t i = 0; i < n_paths; ++i) {
    for (const auto& link : graph_.links(torso_[i])) {
      if (local_[at(link.vertex)] >= 0) join(static_cast<std::int32_t>(i), local_[at(link.vertex)]);
    }
    for (std::int32_t c = first_child_[at(torso_[i])]; c >= 0; c = next_[at(c)]) {
      if (mark_[at(c)] == on_path) continue;
      const auto clique = uppers(c);
      for (std::size_t a = 0; a < clique.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) join(local_[at(clique[a])], local_[at(clique[b])]);
      }
    }
  }
  for (const std::int32_t v : torso_) local_[at(v)] = -1;

  const auto degree = [](const Row& row) {
    int count = 0;
    for (const std::uint64_t word : row) count += std::popcount(word);
    return count;
  };
  const auto has_few_states = [&](std::int32_t i, const Row& row) {
    double states = limit_.n_states(torso_[at(i)]);
    for (int w = 0; w < words; ++w) {
      for (std::uint64_t rest = row[at(w)]; rest; rest &= rest - 1) {
        states *= limit_.n_states(torso_[at(64 * w + std::countr_zero(rest))]);
      }
    }
    return states <= limit_.max_states();
  };
  sequence_.resize(n_paths);
  for (std::size_t i = 0; i < n_paths; ++i) sequence_[i] = static_cast<std::int32_t>(i);
  eliminated_rows_.assign(size * words, 0);
  for (std::size_t step = 0; step < n_paths; ++step) {
    std::size_t best = n_paths;
    int least = std::numeric_limits<int>::max();
    std::uint32_t ties = 0;
    for (std::size_t i = step; i < n_paths; ++i) {
      const Row& row = rows[sequence_[i]];
      const int d = degree(row);
      if (d > k_ || (limit_.limits_states() && !has_few_states(sequence_[i], row))) continue;
      int missing = 0;  // twice the fill-in
      for (int w = 0; w < words && missing < least; ++w) {
        for (std::uint64_t rest = row[at(w)]; rest; rest &= rest - 1) {
          const Row& other = rows[64 * w + std::countr_zero(rest)];
          for (int x = 0; x < words; ++x) missing += std::popcount(row[at(x)] & ~other[at(x)]);
          --missing;  // a neighbour is not its own
        }
      }
      if (missing == 0) {
        best = i;
        break;
      }
      if (missing < least) {
        least = missing;
        best = i;
        ties = 1;
      } else if (missing == least && random.below(++ties) == 0) {
        best = i;
      }
    }
    if (best == n_paths) return false;
    std::swap(sequence_[step], sequence_[best]);
    const std::int32_t v = sequence_[step];
    const Row row = rows[v];
    std::copy(row.begin(), row.end(), eliminated_rows_.begin() + v * words);
    for (int w = 0; w < words; ++w) {
      for (std::uint64_t rest = row[at(w)]; rest; rest &= rest - 1) {
        const int u = 64 * w + std::countr_zero(rest);
        Row& other = rows[u];
        for (int x = 0; x < words; ++x) other[at(x)] |= row[at(x)];
        other[at(v >> 6)] &= ~(std::uint64_t{1} << (v & 63));
        other[at(w)] &= ~(std::uint64_t{1} << (u & 63));
      }
    }
  }
  splice();
  return true;
}

// Put the eliminated paths in the place of the old ones.
void EliminationForest::splice() {
  const std::size_t n_paths = paths_.size();
  const std::size_t words = eliminated_rows_.size() / torso_.size();
  const std::int32_t anchor = top_ >= 0 ? parent_[at(top_)] : -1;
  rank_.assign(torso_.size(), std::numeric_limits<std::int32_t>::max());
  for (std::size_t i = 0; i < n_paths; ++i) rank_[at(sequence_[i])] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < torso_.size(); ++i) {
    local_[at(torso_[i])] = static_cast<std::int32_t>(i);
  }
  // Each attached subtree moves below the lowest vertex of the clique that attaches it.
  const auto lowest = [&](std::int32_t v) {
    std::int32_t best = -1;
    for (const std::int32_t u : uppers(v)) {
      if (best < 0 || rank_[at(local_[at(u)])] < rank_[at(local_[at(best)])]) best = u;
    }
    return best;
  };
  from_end_.clear();
  for (const std::int32_t v : paths_) {
    for (std::int32_t c = first_child_[at(v)]; c >= 0; c = next_[at(c)]) {
      if (mark_[at(c)] != on_path) from_end_.push_back(c);
    }
  }
  for (const std::int32_t c : from_end_) detach(c);
  for (const std::int32_t v : paths_) detach(v);
  for (const std::int32_t c : from_end_) attach(c, lowest(c));
  for (std::size_t i = 0; i < n_paths; ++i) {
    const std::int32_t v = paths_[i];
    std::int32_t count = 0;
    bool inside = false;
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t rest = eliminated_rows_[i * words + w]; rest; rest &= rest - 1) {
        const std::size_t u = 64 * w + static_cast<std::size_t>(std::countr_zero(rest));
        inside = inside || u < n_paths;
        upper(v)[count++] = torso_[u];
      }
    }
    n_upper_[at(v)] = count;
    std::int32_t below = count == 0 ? -1 : inside ? lowest(v) : anchor;
    // Attached only to vertices above the top: take the first of them on the way up.
    while (count > 0 && !inside && !above(v, below)) below = parent_[at(below)];
    attach(v, below);
  }
  for (const std::int32_t v : torso_) local_[at(v)] = -1;
}

bool EliminationForest::rebuild(Random& random) {
  std::vector<std::int32_t> edges;
  for (std::int32_t v = 0; v < n_; ++v) {
    for (const auto& link : graph_.links(v)) {
      if (link.vertex > v) edges.insert(edges.end(), {v, link.vertex});
    }
  }
  const EliminationOrder found =
      greedy_elimination(n_, edges, Greedy::min_fill, random, k_, Control());
  return found.width <= k_ && build(found.order);
}

}  // namespace twbn
