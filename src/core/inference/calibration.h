// The marginals of all variables, by two passes over a junction tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"
#include "inference/bag_tree.h"
#include "inference/contraction.h"
#include "inference/elimination.h"

namespace twbn {

/// A junction tree oriented from a root, for marginals given any evidence. Nothing changes after
/// construction, so several threads may use it at once.
class Calibration {
 public:
  /// `order` has the bags, each after its parent (-1 for the first). `tree` must outlive this.
  Calibration(const BagTree& tree, std::span<const std::int32_t> order,
              std::span<const std::int32_t> parent);

  /// Write the posterior of every variable, one after the other; return the log-probability of the
  /// evidence, minus infinity if it is impossible, NaN if it was stopped. Codes are negative where
  /// nothing is known. One pass to the root, in which each bag is summed over what its parent lacks,
  /// and one back, in which the product of each bag is formed once. A variable's posterior comes from
  /// the smallest table that has it, mostly one between two bags.
  double marginals(const Evidence& evidence, std::span<double> posteriors,
                   const Control& control) const;
  /// Entries that the passes go over, given which variables are known.
  double cost(std::span<const std::int32_t> codes) const;

 private:
  struct Bag {
    std::size_t number;                    // in the tree
    std::vector<std::int32_t> children;    // places in the order
    std::vector<std::int64_t> out;         // of each variable, in the message up; -1: summed out
    std::vector<std::int64_t> whole;       // of each variable, in the product of the bag
    std::vector<std::vector<std::int64_t>> from_child;  // of each variable, in the children's messages
    std::size_t message_size = 1;
    std::vector<std::int32_t> told_here;   // variables whose posteriors come from its product
    std::vector<std::int32_t> told_above;  // and those that come from the table between it and its parent
  };
  template <class Number>
  class Pass;

  void choose_sources();

  template <class Number>
  double pass(const Evidence& evidence, std::span<double> posteriors, bool& underflow,
              const Control& control) const;

  const BagTree& tree_;
  std::vector<Bag> bags_;
  std::vector<std::size_t> offsets_;  // of each variable's posterior
};

}  // namespace twbn
