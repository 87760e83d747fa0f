// Sets of pairs of variables, as bits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "graphs/small_treewidth.h"

namespace twbn {

/// Largest number of variables whose pairs an `EdgeSet` holds.
inline constexpr int max_live_variables = 32;

/// A set of pairs u < v of up to 32 variables; the pair is number v (v - 1) / 2 + u.
class EdgeSet {
 public:
  static int number(int u, int v) { return u < v ? v * (v - 1) / 2 + u : u * (u - 1) / 2 + v; }
  static std::pair<int, int> pair(int number) {
    int v = 1;
    while (v * (v + 1) / 2 <= number) ++v;
    return {number - v * (v - 1) / 2, v};
  }

  void add(int edge) { words_[word(edge)] |= bit(edge); }
  void remove(int edge) { words_[word(edge)] &= ~bit(edge); }
  bool has(int edge) const { return (words_[word(edge)] & bit(edge)) != 0; }
  void add(const EdgeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool meets(const EdgeSet& other) const {
    std::uint64_t both = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) both |= words_[i] & other.words_[i];
    return both != 0;
  }
  /// Call `visit(edge)` for every pair, ascending.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t rest = words_[i]; rest; rest &= rest - 1) {
        visit(static_cast<int>(64 * i) + std::countr_zero(rest));
      }
    }
  }
  /// The pairs of a family: child and parents, and parents with each other.
  void add_family(int child, std::uint32_t parents) {
    const std::uint32_t members = parents | std::uint32_t{1} << child;
    for (std::uint32_t rest = members; rest; rest &= rest - 1) {
      const int u = std::countr_zero(rest);
      for (std::uint32_t others = rest & (rest - 1); others; others &= others - 1) {
        add(number(u, std::countr_zero(others)));
      }
    }
  }
  SmallGraph graph() const {
    SmallGraph result;
    each([&](int edge) {
      const auto [u, v] = pair(edge);
      result.add_edge(u, v);
    });
    return result;
  }

 private:
  static std::size_t word(int edge) { return static_cast<std::size_t>(edge) / 64; }
  static std::uint64_t bit(int edge) { return std::uint64_t{1} << (edge % 64); }
  std::array<std::uint64_t, 8> words_{};
};

}  // namespace twbn
