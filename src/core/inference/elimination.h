// Variable elimination on the part of a network that matters for a question.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/control.h"
#include "inference/contraction.h"
#include "inference/factors.h"
#include "inference/weighted_order.h"

namespace twbn {

/// Evidence: codes of variables (read where they are known or fixed), and likelihoods of states.
struct Evidence {
  std::span<const std::int32_t> codes;    // for every variable
  std::span<const double* const> likelihoods;  // for every variable; null where there is none
};

/// What an answer takes, known before it is computed.
struct EliminationCost {
  std::int32_t n_relevant = 0;  // variables whose tables take part
  std::int32_t width = 0;       // variables of the largest table, less one
  double n_entries = 0;         // of all products that are formed
  double largest = 0;           // of one of them
  double peak = 0;              // entries of messages that are held at a time
};

/// An order of elimination with everything that does not depend on which states are given: which
/// factors are multiplied at each step, and how their entries lie. Nothing changes after
/// construction, so several threads may run it at once.
class EliminationPlan {
 public:
  /// `factors` must outlive the plan. `seconds`: for orders beyond the first, where it is dear.
  EliminationPlan(const Factors& factors, const Question& question, double seconds,
                  const Control& control);

  const EliminationCost& cost() const { return cost_; }
  const std::vector<std::int32_t>& relevant() const { return relevant_; }
  /// Entries of the answer: one for each joint state of the targets, in their order.
  std::size_t answer_size() const { return answer_size_; }
  /// Variables that would be eliminated from the largest tables, the first of the largest first.
  std::vector<std::int32_t> wide_variables() const;

  /// Write the answer, its largest entry one; return the logarithm of the factor by which it is too
  /// large, minus infinity if it is zero throughout. Other variables are summed out or maximised
  /// over. NaN if it was stopped, or if its cost is beyond all machines.
  double run(const Evidence& evidence, bool maximise, std::span<double> answer,
             const Control& control) const;

 private:
  enum class Kind : std::uint8_t { table, likelihood, message };
  struct Operand {
    Kind kind;
    std::int32_t number;      // of the variable, or of the step that made the message
    std::int64_t first_fixed;  // where the variables of a table that are sliced begin
    std::int64_t last_fixed;
  };
  struct Slice {
    std::int32_t variable;
    std::int64_t stride;
  };
  struct Axis {
    std::int32_t n_states;
    std::int64_t out;  // -1: summed out
  };
  // One product: of the factors that hold a variable, which is summed out of it, or a part of them.
  struct Step {
    std::int64_t first_operand, last_operand;
    std::int64_t first_axis, last_axis;  // the one that is summed out, if any, comes last
    std::int64_t first_stride;           // for each axis and operand
    std::size_t size;                    // of the message
  };
  class Builder;

  template <class Number>
  double pass(const Evidence& evidence, bool maximise, std::span<double> answer, bool& underflow,
              const Control& control) const;

  const Factors& factors_;
  std::vector<std::int32_t> relevant_;
  std::vector<Operand> operands_;
  std::vector<Slice> slices_;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> strides_;
  std::vector<Step> steps_;  // the last gives the answer
  std::vector<Operand> scalars_;  // tables of which evidence leaves one number
  std::vector<std::int32_t> eliminated_;  // the variable of each step; -1 for none
  std::vector<double> step_sizes_;
  std::size_t answer_size_ = 1;
  bool can_run_ = true;  // not if a message could not even be addressed
  EliminationCost cost_;
};

}  // namespace twbn
