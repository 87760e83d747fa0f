#include "inference/elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace twbn {

double EliminationPlan::run(const Evidence& evidence, bool maximise, std::span<double> answer,
                            const Control& control) const {
  if (!can_run_) return std::numeric_limits<double>::quiet_NaN();
  bool underflow = false;
  const double log = pass<double>(evidence, maximise, answer, underflow, control);
  if (!underflow) return log;
  return pass<WideNumber>(evidence, maximise, answer, underflow, control);
}

// Numbers that tables are sliced down to are added up as logarithms; so is what messages are divided
// by to have a largest entry of one.
template <class Number>
double EliminationPlan::pass(const Evidence& evidence, bool maximise, std::span<double> answer,
                             bool& underflow, const Control& control) const {
  double log = 0;
  const auto sliced = [&](const Operand& operand) {
    const double* first = factors_.table(operand.number);
    for (std::int64_t s = operand.first_fixed; s < operand.last_fixed; ++s) {
      first += slices_[at(s)].stride * evidence.codes[at(slices_[at(s)].variable)];
    }
    return first;
  };
  for (const Operand& scalar : scalars_) {
    const double* likelihood = evidence.likelihoods[at(scalar.number)];
    const double value = scalar.kind == Kind::table
                             ? *sliced(scalar)
                             : likelihood[evidence.codes[at(scalar.number)]];
    log += log_of(value);
  }
  std::vector<std::vector<Number>> messages(steps_.size());
  Contraction<Number> contraction;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (control.expired()) return std::numeric_limits<double>::quiet_NaN();
    const Step& step = steps_[s];
    contraction.clear();
    for (std::int64_t o = step.first_operand; o < step.last_operand; ++o) {
      const Operand& operand = operands_[at(o)];
      contraction.factors.push_back(
          operand.kind == Kind::table ? Source<Number>::table(sliced(operand))
          : operand.kind == Kind::likelihood
              ? Source<Number>::table(evidence.likelihoods[at(operand.number)])
              : Source<Number>::message(messages[at(operand.number)].data()));
    }
    const std::int64_t n_operands = step.last_operand - step.first_operand;
    const std::int64_t* strides = strides_.data() + step.first_stride;
    for (std::int64_t a = step.first_axis; a < step.last_axis; ++a, strides += n_operands) {
      const Axis& axis = axes_[at(a)];
      (axis.out < 0 ? contraction.summed : contraction.kept)
          .push_back({axis.n_states, axis.out, strides});
    }
    static const double one = 1.0;
    if (n_operands == 0) contraction.factors.push_back(Source<Number>::table(&one));
    std::vector<Number>& message = messages[s];
    message.resize(step.size);
    const Number largest = maximise ? contraction.template run<true>(message.data())
                                    : contraction.template run<false>(message.data());
    if (contraction.underflow || is_huge(largest)) {
      underflow = true;
      return log;
    }
    log += log_of(largest);
    if (is_zero(largest)) break;
    for (Number& value : message) value /= largest;
    for (std::int64_t o = step.first_operand; o < step.last_operand; ++o) {
      const Operand& operand = operands_[at(o)];
      if (operand.kind == Kind::message) std::vector<Number>().swap(messages[at(operand.number)]);
    }
  }
  if (log == minus_infinity) {
    std::fill(answer.begin(), answer.end(), 0.0);
    return log;
  }
  const std::vector<Number>& last = messages.back();
  for (std::size_t i = 0; i < answer.size(); ++i) answer[i] = static_cast<double>(last[i]);
  return log;
}

}  // namespace twbn
