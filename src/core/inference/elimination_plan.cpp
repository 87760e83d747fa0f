// Which factors are multiplied at which step.
#include <algorithm>
#include <numeric>

#include "inference/elimination.h"

namespace twbn {

namespace {

/// Factors multiplied at a time: with more, a product of numbers could underflow.
constexpr std::size_t max_factors = 12;
/// Entries of a message that could be addressed.
constexpr double most_entries = 1e15;

}  // namespace

// Numbers the variables that are free (neither known nor fixed), finds the order, and makes steps.
class EliminationPlan::Builder {
 public:
  Builder(EliminationPlan& plan, const Question& question)
      : plan_(plan), question_(question), place_(question.known.size(), -1) {}

  void build(double seconds, const Control& control);

 private:
  // A factor that waits to be multiplied: its free variables, in the order of its entries.
  struct Waiting {
    Operand operand;
    std::vector<std::int32_t> scope;    // local numbers
    std::vector<std::int64_t> strides;  // of each
    double size = 1;                    // entries, if it is a message
    bool used = false;
  };

  std::int32_t local(std::int32_t v);
  void collect();
  void wait(Waiting waiting);
  void find_order(double seconds, const Control& control);
  void eliminate(std::int32_t variable);
  std::size_t multiply(const std::vector<std::size_t>& some, std::int32_t summed, bool answer);
  Adjacency adjacency() const;

  EliminationPlan& plan_;
  const Question& question_;
  std::vector<std::int32_t> place_;      // local number of a variable, or -1
  std::vector<std::int32_t> variables_;  // by local number
  std::vector<double> n_states_;
  std::vector<char> is_target_;
  std::vector<std::int32_t> rank_;       // when a local variable is eliminated; targets come last
  std::vector<std::int32_t> order_;
  std::vector<Waiting> waiting_;
  std::vector<std::vector<std::size_t>> holding_;  // the factors of each local variable
  double held_ = 0;                      // entries of messages that wait
};

std::int32_t EliminationPlan::Builder::local(std::int32_t v) {
  if (place_[at(v)] < 0) {
    place_[at(v)] = static_cast<std::int32_t>(variables_.size());
    variables_.push_back(v);
    n_states_.push_back(plan_.factors_.n_states(v));
    is_target_.push_back(0);
    holding_.emplace_back();
  }
  return place_[at(v)];
}

void EliminationPlan::Builder::wait(Waiting waiting) {
  for (const std::int32_t v : waiting.scope) holding_[at(v)].push_back(waiting_.size());
  waiting_.push_back(std::move(waiting));
}

// The tables of the relevant variables, sliced where a variable is known or fixed, and likelihoods.
void EliminationPlan::Builder::collect() {
  const Factors& factors = plan_.factors_;
  for (const std::int32_t v : question_.targets) is_target_[at(local(v))] = 1;
  for (const std::int32_t v : plan_.relevant_) {
    Waiting waiting;
    waiting.operand = {Kind::table, v, static_cast<std::int64_t>(plan_.slices_.size()), 0};
    std::int64_t stride = factors.table_size(v);
    const auto visit = [&](std::int32_t u) {
      stride /= factors.n_states(u);
      if (question_.known[at(u)] || question_.fixed[at(u)]) {
        plan_.slices_.push_back({u, stride});
      } else {
        waiting.scope.push_back(local(u));
        waiting.strides.push_back(stride);
      }
    };
    for (const std::int32_t p : factors.parents(v)) visit(p);
    visit(v);
    waiting.operand.last_fixed = static_cast<std::int64_t>(plan_.slices_.size());
    if (waiting.scope.empty()) {
      plan_.scalars_.push_back(waiting.operand);
    } else {
      wait(std::move(waiting));
    }
    if (question_.soft[at(v)]) {
      const Operand likelihood{Kind::likelihood, v, 0, 0};
      if (place_[at(v)] < 0 || question_.fixed[at(v)]) {
        plan_.scalars_.push_back(likelihood);
      } else {
        wait({likelihood, {place_[at(v)]}, {1}});
      }
    }
  }
}

Adjacency EliminationPlan::Builder::adjacency() const {
  Adjacency graph(variables_.size());
  for (const Waiting& waiting : waiting_) {
    for (const std::int32_t a : waiting.scope) {
      for (const std::int32_t b : waiting.scope) {
        if (a != b) graph[at(a)].push_back(b);
      }
    }
  }
  for (auto& around : graph) {
    std::sort(around.begin(), around.end());
    around.erase(std::unique(around.begin(), around.end()), around.end());
  }
  return graph;
}

void EliminationPlan::Builder::find_order(double seconds, const Control& control) {
  order_ = best_order(adjacency(), n_states_, is_target_, 0, seconds, control).order;
  rank_.assign(variables_.size(), 0);
  auto next = static_cast<std::int32_t>(order_.size());
  // Targets in reverse: the first has the greatest stride in the answer.
  for (const std::int32_t v : question_.targets) {
    rank_[at(place_[at(v)])] = next + static_cast<std::int32_t>(question_.targets.size());
    --next;
  }
  for (std::size_t i = 0; i < order_.size(); ++i) rank_[at(order_[i])] = static_cast<std::int32_t>(i);
}

// Adds a step that multiplies some factors; returns where its message waits. The axes of a message
// are in the order of elimination, the next one to go last, so that sums run over neighbours.
std::size_t EliminationPlan::Builder::multiply(const std::vector<std::size_t>& some,
                                               std::int32_t summed, bool answer) {
  std::vector<std::int32_t> scope;
  if (answer) {
    for (const std::int32_t v : question_.targets) scope.push_back(place_[at(v)]);
  }
  for (const std::size_t i : some) {
    scope.insert(scope.end(), waiting_[i].scope.begin(), waiting_[i].scope.end());
  }
  std::sort(scope.begin(), scope.end(),
            [&](std::int32_t a, std::int32_t b) { return rank_[at(a)] > rank_[at(b)]; });
  scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
  const bool sums = summed >= 0;
  if (sums) {  // it is the lowest, as all that rank below it are gone
    std::erase(scope, summed);
    scope.push_back(summed);
  }
  EliminationPlan& p = plan_;
  Step step;
  step.first_operand = static_cast<std::int64_t>(p.operands_.size());
  for (const std::size_t i : some) {
    p.operands_.push_back(waiting_[i].operand);
    waiting_[i].used = true;
  }
  step.last_operand = static_cast<std::int64_t>(p.operands_.size());
  step.first_axis = static_cast<std::int64_t>(p.axes_.size());
  step.first_stride = static_cast<std::int64_t>(p.strides_.size());
  const std::size_t n_kept = scope.size() - (sums ? 1 : 0);
  Waiting message;
  message.operand = {Kind::message, static_cast<std::int32_t>(p.steps_.size()), 0, 0};
  message.scope.assign(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(n_kept));
  message.strides.resize(n_kept);
  std::int64_t out = 1;
  for (std::size_t a = n_kept; a-- > 0;) {
    const std::int32_t n_states = p.factors_.n_states(variables_[at(scope[a])]);
    message.strides[a] = out;
    message.size *= n_states;
    if (message.size <= most_entries) out *= n_states;
  }
  if (message.size > most_entries) p.can_run_ = false;  // its places have no numbers
  double joint = 1;
  for (std::size_t a = 0; a < scope.size(); ++a) {
    const std::int32_t v = scope[a];
    const std::int32_t n_states = p.factors_.n_states(variables_[at(v)]);
    p.axes_.push_back({n_states, a < n_kept ? message.strides[a] : -1});
    joint *= n_states;
    for (const std::size_t i : some) {
      const auto& own = waiting_[i].scope;
      const auto found = std::find(own.begin(), own.end(), v);
      p.strides_.push_back(
          found == own.end() ? 0 : waiting_[i].strides[at(found - own.begin())]);
    }
  }
  step.last_axis = static_cast<std::int64_t>(p.axes_.size());
  step.size = static_cast<std::size_t>(out);
  p.steps_.push_back(step);
  p.eliminated_.push_back(sums ? variables_[at(summed)] : -1);
  p.step_sizes_.push_back(joint);
  held_ += message.size;
  p.cost_.peak = std::max(p.cost_.peak, held_);
  p.cost_.n_entries += joint;
  p.cost_.largest = std::max(p.cost_.largest, joint);
  p.cost_.width = std::max(p.cost_.width, static_cast<std::int32_t>(scope.size()) - 1);
  for (const std::size_t i : some) {
    if (waiting_[i].operand.kind == Kind::message) held_ -= waiting_[i].size;
  }
  waiting_.push_back(std::move(message));
  return waiting_.size() - 1;
}

void EliminationPlan::Builder::eliminate(std::int32_t variable) {
  std::vector<std::size_t> bucket;
  if (variable >= 0) {
    for (const std::size_t i : holding_[at(variable)]) {
      if (!waiting_[i].used) bucket.push_back(i);
    }
  } else {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (!waiting_[i].used) bucket.push_back(i);
    }
  }
  // Small ones first: what they are multiplied into stays small.
  std::sort(bucket.begin(), bucket.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t m = waiting_[a].scope.size(), n = waiting_[b].scope.size();
    return m != n ? m < n : a < b;
  });
  while (bucket.size() > max_factors) {
    const std::vector<std::size_t> part(bucket.begin(), bucket.begin() + max_factors);
    bucket.erase(bucket.begin(), bucket.begin() + max_factors);
    bucket.push_back(multiply(part, -1, false));
  }
  const std::size_t made = multiply(bucket, variable, variable < 0);
  if (variable < 0) return;
  // A number is the factor of all that follows.
  for (const std::int32_t v : waiting_[made].scope) holding_[at(v)].push_back(made);
}

void EliminationPlan::Builder::build(double seconds, const Control& control) {
  collect();
  find_order(seconds, control);
  for (const std::int32_t v : order_) eliminate(v);
  eliminate(-1);
  for (const std::int32_t v : question_.targets) {
    plan_.answer_size_ *= static_cast<std::size_t>(plan_.factors_.n_states(v));
  }
  if (!plan_.can_run_) plan_.answer_size_ = 0;
}

EliminationPlan::EliminationPlan(const Factors& factors, const Question& question, double seconds,
                                 const Control& control)
    : factors_(factors), relevant_(relevant_variables(factors, question)) {
  Builder(*this, question).build(seconds, control);
  cost_.n_relevant = static_cast<std::int32_t>(relevant_.size());
}

std::vector<std::int32_t> EliminationPlan::wide_variables() const {
  std::vector<std::size_t> order(steps_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return step_sizes_[a] > step_sizes_[b]; });
  std::vector<std::int32_t> result;
  for (const std::size_t s : order) {
    if (eliminated_[s] >= 0) result.push_back(eliminated_[s]);
  }
  return result;
}

}  // namespace twbn
