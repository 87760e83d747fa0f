// Rows answered one by one, each on the part of the network that matters for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "inference/elimination.h"

namespace twbn {

/// Answers the same question for rows in which different variables are known. Plans are kept for
/// rows that know the same variables. For one thread.
class RowElimination {
 public:
  /// `target`: -1 where the probability of the row is asked for.
  RowElimination(const Factors& factors, std::int32_t target, double max_entries)
      : factors_(factors), target_(target), max_entries_(max_entries) {}

  /// A row has a code for every variable, negative where it is not known; the target's own is
  /// ignored. Writes the posterior of the target; returns the logarithm of the probability of what
  /// is relevant in the row: minus infinity if the row is impossible, NaN if that could not be told
  /// quickly, or if the messages would have more than `max_entries` entries at a time.
  double collect(std::span<const std::int32_t> row, std::span<double> posterior,
                 const Control& control);
  /// Entries that `collect` would go through, with what a plan costs.
  double cost(std::span<const std::int32_t> row);

 private:
  const EliminationPlan& plan_for(std::span<const std::int32_t> row);

  const Factors& factors_;
  std::int32_t target_;
  double max_entries_;
  std::unordered_map<std::string, std::unique_ptr<EliminationPlan>> kept_;
  std::unique_ptr<EliminationPlan> last_;
};

}  // namespace twbn
