// Rules that no single family decides: who is joined to whom, and who is whose ancestor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "annealing/dynamic_dag.h"
#include "base/numbers.h"

namespace twbn {

/// Pairs that an arc must join in either direction, and pairs (a, b) of which a must, or must not,
/// be an ancestor of b.
struct Relations {
  using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;
  Pairs adjacent, ancestors, non_ancestors;

  bool none() const { return adjacent.empty() && ancestors.empty() && non_ancestors.empty(); }
};

/// Checks the rules on a structure. O(arcs before the later variable) for each rule on ancestors.
class RelationCheck {
 public:
  RelationCheck(const Relations& relations, int n) : relations_(relations), seen_(at(n)) {}

  bool holds(const DynamicDag& dag) {
    const auto joined = [&](const auto& pair) {
      return has(dag.parents(pair.first), pair.second) || has(dag.parents(pair.second), pair.first);
    };
    const auto leads = [&](const auto& pair) { return is_ancestor(dag, pair.first, pair.second); };
    return std::ranges::all_of(relations_.adjacent, joined) &&
           std::ranges::all_of(relations_.ancestors, leads) &&
           std::ranges::none_of(relations_.non_ancestors, leads);
  }

 private:
  static bool has(std::span<const std::int32_t> set, std::int32_t v) {
    return std::ranges::find(set, v) != set.end();
  }

  // Walks up from b; nothing before a in the order descends from it.
  bool is_ancestor(const DynamicDag& dag, std::int32_t a, std::int32_t b) {
    if (!dag.before(a, b)) return false;
    bool found = false;
    stack_.assign(1, b);
    touched_.assign(1, b);
    seen_[at(b)] = 1;
    while (!stack_.empty() && !found) {
      const std::int32_t v = stack_.back();
      stack_.pop_back();
      for (const std::int32_t p : dag.parents(v)) {
        if (p == a) {
          found = true;
          break;
        }
        if (seen_[at(p)] || dag.before(p, a)) continue;
        seen_[at(p)] = 1;
        touched_.push_back(p);
        stack_.push_back(p);
      }
    }
    for (const std::int32_t v : touched_) seen_[at(v)] = 0;
    return found;
  }

  const Relations& relations_;
  std::vector<char> seen_;
  std::vector<std::int32_t> stack_, touched_;
};

}  // namespace twbn
