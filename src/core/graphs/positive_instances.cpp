#include "graphs/positive_instances.h"

#include <array>
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

namespace twbn {

namespace {

// Without the POPCNT instruction std::popcount is a library call; this is not.
inline int count_bits(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555ULL;
  word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
  return static_cast<int>((word * 0x0101010101010101ULL) >> 56);
}

/// A set of vertices 0 .. 64 · W - 1.
template <int W>
struct VertexSet {
  std::array<std::uint64_t, W> words{};

  void add(int v) { words[static_cast<std::size_t>(v) / 64] |= bit(v); }
  bool has(int v) const { return (words[static_cast<std::size_t>(v) / 64] & bit(v)) != 0; }
  bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    return any == 0;
  }
  int size() const {
    int count = 0;
    for (const std::uint64_t word : words) count += count_bits(word);
    return count;
  }
  bool intersects(const VertexSet& other) const {
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < W; ++w) any |= words[w] & other.words[w];
    return any != 0;
  }
  bool inside(const VertexSet& other) const {
    std::uint64_t outside = 0;
    for (std::size_t w = 0; w < W; ++w) outside |= words[w] & ~other.words[w];
    return outside == 0;
  }
  int first() const {
    for (std::size_t w = 0; w < W; ++w) {
      if (words[w]) return static_cast<int>(w) * 64 + std::countr_zero(words[w]);
    }
    return -1;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t w = 0; w < W; ++w) {
      for (std::uint64_t rest = words[w]; rest; rest &= rest - 1) {
        visit(static_cast<int>(w) * 64 + std::countr_zero(rest));
      }
    }
  }
  VertexSet operator|(const VertexSet& other) const {
    VertexSet result;
    for (std::size_t w = 0; w < W; ++w) result.words[w] = words[w] | other.words[w];
    return result;
  }
  VertexSet without(const VertexSet& other) const {
    VertexSet result;
    for (std::size_t w = 0; w < W; ++w) result.words[w] = words[w] & ~other.words[w];
    return result;
  }
  bool operator==(const VertexSet&) const = default;

 private:
  static std::uint64_t bit(int v) { return std::uint64_t{1} << (static_cast<unsigned>(v) % 64); }
};

template <int W>
struct VertexSetHash {
  std::size_t operator()(const VertexSet<W>& set) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
    for (const std::uint64_t word : set.words) {
      hash = (hash ^ word) * 0xbf58476d1ce4e5b9ULL;
      hash ^= hash >> 31;
    }
    return hash;
  }
};

/// The unions by border, as a trie over 32-bit pieces of it: finds those whose border adds at most
/// a few vertices to a given one without looking at the rest.
template <int W>
class BorderTrie {
 public:
  using Set = VertexSet<W>;

  void insert(const Set& border, std::int64_t id) {
    std::size_t node = 0;
    for (int level = 0; level < levels; ++level) {
      const std::uint32_t piece = piece_of(border, level);
      const auto [slot, added] = child_of_.try_emplace(Key{node, piece}, nodes_.size());
      const std::size_t child = slot->second;
      if (added) {
        nodes_.emplace_back();
        nodes_[node].pieces.push_back(piece);
        nodes_[node].children.push_back(child);
      }
      node = child;
    }
    nodes_[node].ids.push_back(id);
  }

  /// Appends the unions whose border has at most `extra` vertices outside `border`, none in `set`.
  void find(const Set& border, const Set& set, int extra, std::vector<std::int64_t>& ids) const {
    visit(0, 0, border, set, extra, ids);
  }
  std::size_t n_nodes() const { return nodes_.size(); }

 private:
  static constexpr int levels = 2 * W;
  struct Node {
    std::vector<std::uint32_t> pieces;
    std::vector<std::size_t> children;
    std::vector<std::int64_t> ids;
  };
  struct Key {
    std::size_t node;
    std::uint32_t piece;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = (key.node * 0x9e3779b97f4a7c15ULL) ^ key.piece;
      hash *= 0xbf58476d1ce4e5b9ULL;
      return hash ^ (hash >> 31);
    }
  };

  static std::uint32_t piece_of(const Set& set, int level) {
    const std::uint64_t word = set.words[static_cast<std::size_t>(level) / 2];
    return static_cast<std::uint32_t>(level % 2 == 0 ? word : word >> 32);
  }

  void visit(std::size_t index, int level, const Set& border, const Set& set, int extra,
             std::vector<std::int64_t>& ids) const {
    const Node& node = nodes_[index];
    if (level == levels) {
      ids.insert(ids.end(), node.ids.begin(), node.ids.end());
      return;
    }
    const std::uint32_t inside = piece_of(border, level);
    const std::uint32_t excluded = piece_of(set, level);
    for (std::size_t i = 0; i < node.pieces.size(); ++i) {
      const std::uint32_t piece = node.pieces[i];
      if ((piece & excluded) != 0) continue;
      const int outside = count_bits(piece & ~inside);
      if (outside > extra) continue;
      visit(node.children[i], level + 1, border, set, extra - outside, ids);
    }
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::unordered_map<Key, std::size_t, KeyHash> child_of_;
};

template <int W>
class Decider {
 public:
  using Set = VertexSet<W>;

  Decider(int n, std::span<const std::int32_t> edges, int k, std::int64_t max_bytes,
          Control& control)
      : n_(n), k_(k), max_bytes_(max_bytes), control_(control), near_(static_cast<std::size_t>(n)) {
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
      if (edges[e] == edges[e + 1]) continue;
      near_[static_cast<std::size_t>(edges[e])].add(edges[e + 1]);
      near_[static_cast<std::size_t>(edges[e + 1])].add(edges[e]);
    }
    for (int v = 0; v < n; ++v) {
      everything_.add(v);
      if (near(v).size() > near(root_).size()) root_ = v;
    }
  }

  TreewidthDecision run() {
    TreewidthDecision result;
    for (int v = 0; v < n_ && !found_; ++v) {
      Set bag = near(v);
      bag.add(v);
      try_bag(Set{}, bag, -1);
    }
    // The queue is the list of feasible sets itself; new ones are appended while it is walked.
    for (std::size_t next = 0; next < feasible_.size() && !found_; ++next) {
      if (out_of_budget()) return result;
      absorb(next);
      if (stopped_) return result;
    }
    result.decision = found_ ? Decision::yes : Decision::no;
    if (found_) write_tree(root_bag_, root_union_, -1, result);
    return result;
  }

 private:
  struct Feasible {
    Set set;
    Set border;
    Set bag;
    std::int64_t parts;  // the union below the bag, or -1
  };
  struct Union {
    Set set;
    Set border;
    std::int64_t rest;  // the union without `last`, or -1
    std::int64_t last;  // a feasible set
  };

  const Set& near(int v) const { return near_[static_cast<std::size_t>(v)]; }

  bool out_of_budget() {
    const std::size_t bytes = feasible_.size() * sizeof(Feasible) + seen_.size() * (sizeof(Set) + 40) +
                              unions_.size() * (sizeof(Union) + 16) + trie_.n_nodes() * 160;
    stopped_ = control_.expired() || static_cast<std::int64_t>(bytes) > max_bytes_;
    return stopped_;
  }

  // Every union that gains feasible set `index`, and the set alone.
  void absorb(std::size_t index) {
    const Set set = feasible_[index].set;
    const Set border = feasible_[index].border;
    partners_.clear();
    trie_.find(border, set, k_ + 1 - border.size(), partners_);
    add_union(set, border, -1, static_cast<std::int64_t>(index));
    for (const std::int64_t u : partners_) {
      if (found_ || ((unions_.size() & 0xffff) == 0xffff && out_of_budget())) return;
      const Union& other = unions_[static_cast<std::size_t>(u)];
      if (other.set.intersects(set) || other.set.intersects(border)) continue;
      add_union(other.set | set, other.border | border, u, static_cast<std::int64_t>(index));
    }
  }

  void add_union(const Set& set, const Set& border, std::int64_t rest, std::int64_t last) {
    const auto index = static_cast<std::int64_t>(unions_.size());
    unions_.push_back({set, border, rest, last});
    trie_.insert(border, index);
    border.for_each([&](int v) {
      if (found_) return;
      const Set bag = border | near(v).without(set);
      if (bag.size() <= k_ + 1) try_bag(set, bag, index);
    });
  }

  // Is there a new feasible set of the union `below` and some of the bag?
  void try_bag(const Set& below, const Set& bag, std::int64_t parts) {
    if (bag.size() > k_ + 1) return;
    const Set known = below | bag;
    if (known == everything_) {
      found_ = true;
      root_bag_ = bag;
      root_union_ = parts;
      return;
    }
    Set set = below;
    bag.for_each([&](int u) {
      if (near(u).inside(known)) set.add(u);
    });
    if (set.has(root_) || set == below || !seen_.insert(set).second) return;
    const Set border = around(set);
    if (border.size() > k_ || component(set.first(), set) != set || !has_opposite(set, border)) {
      return;
    }
    feasible_.push_back({set, border, bag, parts});
  }

  Set around(const Set& set) const {
    Set result;
    set.for_each([&](int u) { result = result | near(u); });
    return result.without(set);
  }

  Set component(int v, const Set& within) const {
    Set reached;
    Set frontier;
    frontier.add(v);
    while (!frontier.empty()) {
      reached = reached | frontier;
      Set next;
      frontier.for_each([&](int u) { next = next | near(u); });
      for (std::size_t w = 0; w < W; ++w) {
        next.words[w] &= within.words[w] & ~reached.words[w];
      }
      frontier = next;
    }
    return reached;
  }

  // In a decomposition along minimal separators the border has a second full component.
  bool has_opposite(const Set& set, const Set& border) const {
    Set rest = everything_.without(set | border);
    while (!rest.empty()) {
      const Set part = component(rest.first(), rest);
      if (border.inside(around(part))) return true;
      rest = rest.without(part);
    }
    return false;
  }

  void write_tree(const Set& bag, std::int64_t parts, std::int32_t parent,
                  TreewidthDecision& result) const {
    // Depth-first with an explicit stack: trees may be as deep as the graph is large.
    struct Pending {
      Set bag;
      std::int64_t parts;
      std::int32_t parent;
    };
    std::vector<Pending> stack{{bag, parts, parent}};
    while (!stack.empty()) {
      const Pending node = stack.back();
      stack.pop_back();
      const auto index = static_cast<std::int32_t>(result.bags.size());
      result.bags.emplace_back();
      node.bag.for_each([&](int v) { result.bags.back().push_back(v); });
      result.parents.push_back(node.parent);
      for (std::int64_t u = node.parts; u >= 0; u = unions_[static_cast<std::size_t>(u)].rest) {
        const auto last = static_cast<std::size_t>(unions_[static_cast<std::size_t>(u)].last);
        stack.push_back({feasible_[last].bag, feasible_[last].parts, index});
      }
    }
  }

  int n_;
  int k_;
  std::int64_t max_bytes_;
  Control& control_;
  std::vector<Set> near_;
  Set everything_;
  int root_ = 0;
  std::vector<Feasible> feasible_;
  std::vector<Union> unions_;
  BorderTrie<W> trie_;
  std::vector<std::int64_t> partners_;
  std::unordered_set<Set, VertexSetHash<W>> seen_;
  bool found_ = false;
  bool stopped_ = false;
  Set root_bag_;
  std::int64_t root_union_ = -1;
};

}  // namespace

TreewidthDecision decide_treewidth(int n, std::span<const std::int32_t> edges, int k,
                                   std::int64_t max_bytes, Control& control) {
  const auto run = [&]<int W>() {
    return Decider<W>(n, edges, k, max_bytes, control).run();
  };
  if (n <= 64) return run.template operator()<1>();
  if (n <= 128) return run.template operator()<2>();
  if (n <= 192) return run.template operator()<3>();
  if (n <= 256) return run.template operator()<4>();
  if (n <= 512) return run.template operator()<8>();
  if (n <= max_decision_vertices) return run.template operator()<16>();
  throw std::invalid_argument("too many vertices");
}

}  // namespace twbn
