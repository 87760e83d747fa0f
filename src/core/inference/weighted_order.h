// Elimination orders that keep tables small, not only bags.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/control.h"
#include "base/random.h"

namespace twbn {

/// A graph as ascending lists of neighbours.
using Adjacency = std::vector<std::vector<std::int32_t>>;

/// An order of elimination and what it costs.
struct WeightedOrder {
  std::vector<std::int32_t> order;
  double n_entries = std::numeric_limits<double>::infinity();  // of the tables of all steps
  double largest = 0;                                          // of one of them
};

/// What is least for the vertex that is eliminated next: the size of its table; or the sizes of the
/// tables over pairs of neighbours that it joins (weighted fill-in).
enum class Weighing { table, fill };

/// Eliminate all vertices but those in `last`, greedily. With random numbers, what is compared is
/// varied a little. Gives up, with infinite cost, when `n_entries` reaches `give_up_at`.
WeightedOrder greedy_order(Adjacency graph, std::span<const double> n_states,
                           std::span<const char> last, Weighing rule, Random* random,
                           double give_up_at);

/// The best of several greedy orders: the more entries they leave, the more are tried, until about
/// `seconds` have passed or `control` says so.
WeightedOrder best_order(const Adjacency& graph, std::span<const double> n_states,
                         std::span<const char> last, std::uint64_t seed, double seconds,
                         const Control& control);

}  // namespace twbn
