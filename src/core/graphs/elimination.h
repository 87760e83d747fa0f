// Greedy elimination orders.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/random.h"

namespace twbn {

enum class Greedy { min_degree, min_fill };

struct EliminationOrder {
  std::vector<std::int32_t> order;
  int width = 0;
};

/// Eliminate the vertex of least degree, or of least fill-in, until none is left; ties are broken
/// at random. Stops early, with a partial order, once the width exceeds `give_up_above` or the
/// time is over; the width is then `give_up_above` + 1 or more.
/// `edges` holds pairs of vertices 0 .. n - 1.
EliminationOrder greedy_elimination(int n, std::span<const std::int32_t> edges, Greedy rule,
                                    Random& random, int give_up_above, const Control& control);

}  // namespace twbn
