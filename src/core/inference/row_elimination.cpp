#include "inference/row_elimination.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/support.h"

namespace twbn {

namespace {

/// Plans that are kept.
constexpr std::size_t max_plans = 1000;
/// Entries that a pass goes through in the time that a plan takes for one relevant variable.
constexpr double entries_of_plan = 400;
/// States tried to see whether a row is possible.
constexpr std::int64_t trials_of_row = 1000;
constexpr double nothing_known = std::numeric_limits<double>::quiet_NaN();

}  // namespace

const EliminationPlan& RowElimination::plan_for(std::span<const std::int32_t> row) {
  std::string pattern(row.size(), '0');
  Question question;
  question.known.resize(row.size());
  question.soft.resize(row.size());
  question.fixed.resize(row.size());
  for (std::size_t v = 0; v < row.size(); ++v) {
    if (row[v] < 0 || static_cast<std::int32_t>(v) == target_) continue;
    pattern[v] = '1';
    question.known[v] = 1;
  }
  const auto found = kept_.find(pattern);
  if (found != kept_.end()) return *found->second;
  if (target_ >= 0) question.targets.push_back(target_);
  auto made = std::make_unique<EliminationPlan>(factors_, question, 0.0, Control());
  if (kept_.size() < max_plans) return *(kept_[pattern] = std::move(made));
  last_ = std::move(made);
  return *last_;
}

double RowElimination::collect(std::span<const std::int32_t> row, std::span<double> posterior,
                               const Control& control) {
  const EliminationPlan& plan = plan_for(row);
  if (plan.cost().peak > max_entries_) return nothing_known;
  const std::vector<const double*> likelihoods(row.size());
  std::vector<std::int32_t> codes(row.begin(), row.end());
  if (target_ >= 0) codes[at(target_)] = -1;
  const Evidence evidence{codes, likelihoods};
  const double log = plan.run(evidence, false, posterior, control);
  if (target_ >= 0 && log > minus_infinity) {
    const Possible found = is_possible(factors_, evidence, plan.relevant(), trials_of_row);
    if (found == Possible::unknown) return nothing_known;
    if (found == Possible::no) {
      std::fill(posterior.begin(), posterior.end(), 0.0);
      return minus_infinity;
    }
  }
  double sum = 0;
  for (const double value : posterior) sum += value;
  if (sum > 0) {
    for (double& value : posterior) value /= sum;
  }
  return sum > 0 ? log + std::log(sum) : log;
}

double RowElimination::cost(std::span<const std::int32_t> row) {
  const EliminationCost& cost = plan_for(row).cost();
  return cost.n_entries + entries_of_plan * cost.n_relevant;
}

}  // namespace twbn
