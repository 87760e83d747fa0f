#include "inference/factors.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace twbn {

Factors::Factors(std::vector<std::int32_t> n_states,
                 std::vector<std::vector<std::int32_t>> parents, std::vector<const double*> tables)
    : n_states_(std::move(n_states)),
      parents_(std::move(parents)),
      children_(parents_.size()),
      tables_(std::move(tables)) {
  for (std::int32_t v = 0; v < n_variables(); ++v) {
    for (const std::int32_t p : parents_[at(v)]) children_[at(p)].push_back(v);
    const double* first = tables_[at(v)];
    const double* last = first + table_size(v);
    has_zero_.push_back(std::any_of(first, last, [](double value) { return value <= 0; }));
  }
}

std::int64_t Factors::table_size(std::int32_t v) const {
  std::int64_t size = n_states_[at(v)];
  for (const std::int32_t p : parents_[at(v)]) size *= n_states_[at(p)];
  return size;
}

namespace {

constexpr char table_needed = 1;     // and so are its parents
constexpr char children_seen = 2;

// A visit of a variable, from one of its children or from one of its parents.
struct Visit {
  std::int32_t variable;
  bool from_child;
};

std::vector<char> ancestors_of_evidence(const Factors& factors, const Question& question) {
  std::vector<char> marks(at(factors.n_variables()));
  std::vector<std::int32_t> waiting;
  for (std::int32_t v = 0; v < factors.n_variables(); ++v) {
    if (question.known[at(v)] || question.soft[at(v)]) waiting.push_back(v);
  }
  while (!waiting.empty()) {
    const std::int32_t v = waiting.back();
    waiting.pop_back();
    if (marks[at(v)]) continue;
    marks[at(v)] = table_needed;
    for (const std::int32_t p : factors.parents(v)) waiting.push_back(p);
  }
  return marks;
}

std::vector<char> reached_from_targets(const Factors& factors, const Question& question) {
  std::vector<char> marks(at(factors.n_variables()));
  std::vector<Visit> waiting;
  for (const std::int32_t v : question.targets) waiting.push_back({v, true});
  while (!waiting.empty()) {
    const auto [v, from_child] = waiting.back();
    waiting.pop_back();
    char& mark = marks[at(v)];
    const bool known = question.known[at(v)];
    // A likelihood is a child that is known: it sends back what comes from a parent.
    const bool upwards = from_child ? !known : known || question.soft[at(v)];
    if (upwards && !(mark & table_needed)) {
      mark = static_cast<char>(mark | table_needed);
      for (const std::int32_t p : factors.parents(v)) waiting.push_back({p, true});
    }
    if (!known && !(mark & children_seen)) {
      mark = static_cast<char>(mark | children_seen);
      for (const std::int32_t c : factors.children(v)) waiting.push_back({c, false});
    }
  }
  return marks;
}

}  // namespace

std::vector<std::int32_t> relevant_variables(const Factors& factors, const Question& question) {
  if (question.whole) {
    std::vector<std::int32_t> all(at(factors.n_variables()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const auto marks = question.targets.empty() ? ancestors_of_evidence(factors, question)
                                              : reached_from_targets(factors, question);
  std::vector<std::int32_t> result;
  for (std::int32_t v = 0; v < factors.n_variables(); ++v) {
    if (marks[at(v)] & table_needed) result.push_back(v);
  }
  return result;
}

}  // namespace twbn
