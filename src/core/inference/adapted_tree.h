// A junction tree for what some evidence leaves open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"
#include "inference/elimination.h"
#include "inference/factors.h"

namespace twbn {

/// The bags of a junction tree and how they hang together.
struct TreeShape {
  std::vector<std::vector<std::int32_t>> bags;  // ascending
  std::vector<std::int32_t> order, parent;      // bags, each after its parent; -1 for the first
  std::vector<std::int32_t> home;  // for each variable, a bag with what is open of its family, or -1
  double n_entries = 0;            // of all bags
};

/// Find a tree over the variables that are not known (whose codes are negative): knowing a variable
/// takes it out of the graph, so such a tree can be far smaller than one for all evidence.
TreeShape tree_shape(const Factors& factors, std::span<const std::int32_t> codes, double seconds,
                     const Control& control);

/// Marginals as by `Calibration`, over a tree of this shape, which was made for these codes.
double adapted_marginals(const Factors& factors, const TreeShape& shape, const Evidence& evidence,
                         std::span<double> posteriors, const Control& control);

}  // namespace twbn
