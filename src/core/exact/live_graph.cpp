#include "exact/live_graph.h"

#include <algorithm>

#include "base/numbers.h"

namespace twbn {

std::size_t LiveGraph::bytes() const {
  return subsets.size() * (sizeof(std::uint32_t) * 2 + sizeof(double)) +
         steps.size() * sizeof(Step) +
         parents.size() * (sizeof(std::uint32_t) + sizeof(double) + sizeof(EdgeSet) +
                           sizeof(std::int64_t));
}

// The first family from `family` on that is allowed and inside the subset; `end` if there is none
// of a value of at least `least`.
std::uint32_t LongestPath::allowed(std::uint32_t family, std::uint32_t end, std::uint32_t subset,
                                   double least) const {
  for (; family < end; ++family) {
    if (graph_->values[family] < least) return end;
    if (!blocked_[family] && !(graph_->parents[family] & ~subset)) return family;
  }
  return end;
}

double LongestPath::run(const LiveGraph& graph, const EdgeSet& forbidden, double least) {
  graph_ = &graph;
  least_ = least;
  n_reached_ = 0;
  const std::size_t n_subsets = graph.subsets.size();
  if (n_subsets == 0) return minus_infinity;
  value_.assign(n_subsets, minus_infinity);
  from_.resize(n_subsets);
  by_.resize(n_subsets);
  blocked_.resize(graph.edges.size());
  for (std::size_t f = 0; f < blocked_.size(); ++f) blocked_[f] = graph.edges[f].meets(forbidden);
  value_[0] = 0.0;
  for (std::size_t j = 0; j + 1 < n_subsets; ++j) {
    const double value = value_[j];
    if (value + graph.to_go[j] < least) continue;
    ++n_reached_;
    const std::uint32_t subset = graph.subsets[j];
    for (std::uint32_t s = graph.step_offsets[j]; s < graph.step_offsets[j + 1]; ++s) {
      const LiveGraph::Step step = graph.steps[s];
      const double needed = least - value - graph.to_go[step.to];
      std::uint32_t family = step.family;
      // The first one nearly always will do.
      if (graph.values[family] < needed) continue;
      if (blocked_[family]) {
        const int child = std::countr_zero(graph.subsets[step.to] & ~subset);
        const std::uint32_t end = graph.family_offsets[static_cast<std::size_t>(child) + 1];
        family = allowed(family + 1, end, subset, needed);
        if (family == end) continue;
      }
      const double reached = value + graph.values[family];
      if (reached > value_[step.to]) {
        value_[step.to] = reached;
        from_[step.to] = static_cast<std::uint32_t>(j);
        by_[step.to] = family;
      }
    }
  }
  return value_[n_subsets - 1] < least ? minus_infinity : value_[n_subsets - 1];
}

template <class Visit>
void LongestPath::path(Visit visit) const {
  for (std::size_t j = graph_->subsets.size() - 1; j > 0; j = from_[j]) {
    const std::uint32_t added = graph_->subsets[j] & ~graph_->subsets[from_[j]];
    visit(std::countr_zero(added), by_[j]);
  }
}

std::vector<std::int64_t> LongestPath::families() const {
  std::vector<std::int64_t> result(static_cast<std::size_t>(graph_->n));
  path([&](int child, std::uint32_t family) {
    result[static_cast<std::size_t>(child)] = graph_->positions[family];
  });
  return result;
}

EdgeSet LongestPath::edges() const {
  EdgeSet result;
  path([&](int, std::uint32_t family) { result.add(graph_->edges[family]); });
  return result;
}

std::shared_ptr<const LiveGraph> LongestPath::shrunk() {
  const LiveGraph& old = *graph_;
  const std::size_t n_subsets = old.subsets.size();
  auto graph = std::make_shared<LiveGraph>();
  graph->n = old.n;
  // Backward: the longest path from every subset that was reached, and the family of each step.
  std::vector<double> to_go(n_subsets, minus_infinity);
  std::vector<std::uint32_t> family_of(old.steps.size(), no_number);
  to_go[n_subsets - 1] = 0.0;
  for (std::size_t j = n_subsets - 1; j-- > 0;) {
    if (value_[j] + old.to_go[j] < least_) continue;
    const std::uint32_t subset = old.subsets[j];
    for (std::uint32_t s = old.step_offsets[j]; s < old.step_offsets[j + 1]; ++s) {
      const LiveGraph::Step step = old.steps[s];
      if (to_go[step.to] == minus_infinity) continue;
      const int child = std::countr_zero(old.subsets[step.to] & ~subset);
      const std::uint32_t end = old.family_offsets[static_cast<std::size_t>(child) + 1];
      const std::uint32_t family =
          allowed(step.family, end, subset, least_ - value_[j] - to_go[step.to]);
      if (family == end) continue;
      family_of[s] = family;
      to_go[j] = std::max(to_go[j], old.values[family] + to_go[step.to]);
    }
  }
  // What a family of each child may be worth at least, to be in some live step.
  std::vector<double> needed(static_cast<std::size_t>(old.n), -minus_infinity);
  std::vector<std::uint32_t> number(n_subsets, no_number);
  for (std::size_t j = 0; j < n_subsets; ++j) {
    if (value_[j] + to_go[j] < least_) continue;
    number[j] = static_cast<std::uint32_t>(graph->subsets.size());
    graph->subsets.push_back(old.subsets[j]);
    graph->to_go.push_back(to_go[j]);
  }
  graph->step_offsets.push_back(0);
  for (std::size_t j = 0; j < n_subsets; ++j) {
    if (number[j] == no_number) continue;
    for (std::uint32_t s = old.step_offsets[j]; s < old.step_offsets[j + 1]; ++s) {
      const std::uint32_t to = old.steps[s].to, family = family_of[s];
      if (family == no_number || number[to] == no_number) continue;
      if (value_[j] + old.values[family] + to_go[to] < least_) continue;
      graph->steps.push_back({number[to], family});
      const auto child =
          static_cast<std::size_t>(std::countr_zero(old.subsets[to] & ~old.subsets[j]));
      needed[child] = std::min(needed[child], least_ - value_[j] - to_go[to]);
    }
    graph->step_offsets.push_back(static_cast<std::uint32_t>(graph->steps.size()));
  }
  std::vector<std::uint32_t> moved(old.parents.size(), no_number);
  graph->family_offsets.push_back(0);
  for (std::size_t child = 0; child < static_cast<std::size_t>(old.n); ++child) {
    for (std::uint32_t f = old.family_offsets[child]; f < old.family_offsets[child + 1]; ++f) {
      if (blocked_[f] || old.values[f] < needed[child]) continue;
      moved[f] = static_cast<std::uint32_t>(graph->parents.size());
      graph->parents.push_back(old.parents[f]);
      graph->values.push_back(old.values[f]);
      graph->edges.push_back(old.edges[f]);
      graph->positions.push_back(old.positions[f]);
    }
    graph->family_offsets.push_back(static_cast<std::uint32_t>(graph->parents.size()));
  }
  for (LiveGraph::Step& step : graph->steps) step.family = moved[step.family];
  return graph;
}

}  // namespace twbn
