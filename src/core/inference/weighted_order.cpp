#include "inference/weighted_order.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <queue>

#include "base/numbers.h"

namespace twbn {

namespace {

/// By how much random numbers vary what is compared, at most, as a share of it.
constexpr double variation = 0.3;
/// Entries that a step of a pass handles in about the time that an order takes for one vertex.
constexpr double entries_for_one_vertex = 800;
/// Orders tried, at most.
constexpr int max_tries = 5000;

struct Entry {
  double key;
  std::int32_t vertex;
  std::int32_t version;
  bool operator>(const Entry& other) const {
    return key != other.key ? key > other.key : vertex > other.vertex;
  }
};

class Elimination {
 public:
  Elimination(Adjacency graph, std::span<const double> n_states, std::span<const char> last,
              Weighing rule, Random* random)
      : graph_(std::move(graph)),
        n_states_(n_states),
        last_(last),
        rule_(rule),
        random_(random),
        version_(graph_.size()),
        gone_(graph_.size()),
        mark_(graph_.size()) {}

  WeightedOrder run(double give_up_at);

 private:
  double table_size(std::int32_t v) const {
    double size = n_states_[at(v)];
    for (const std::int32_t u : graph_[at(v)]) size *= n_states_[at(u)];
    return size;
  }
  double fill(std::int32_t v);
  void push(std::int32_t v);
  void eliminate(std::int32_t v);

  Adjacency graph_;
  std::span<const double> n_states_;
  std::span<const char> last_;
  Weighing rule_;
  Random* random_;
  std::vector<std::int32_t> version_;
  std::vector<char> gone_;
  std::vector<std::int32_t> mark_;
  std::int32_t n_marks_ = 0;
  std::vector<std::int32_t> merged_, touched_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// The sizes of the tables over pairs of neighbours that are not joined yet.
double Elimination::fill(std::int32_t v) {
  double sum = 0;
  const auto& around = graph_[at(v)];
  for (const std::int32_t u : around) {
    ++n_marks_;
    for (const std::int32_t w : graph_[at(u)]) mark_[at(w)] = n_marks_;
    for (const std::int32_t w : around) {
      if (w > u && mark_[at(w)] != n_marks_) sum += n_states_[at(u)] * n_states_[at(w)];
    }
  }
  return sum;
}

void Elimination::push(std::int32_t v) {
  if (last_[at(v)]) return;
  // Equal fill-in, often none, is decided by the size of the table.
  const double size = table_size(v);
  double key = rule_ == Weighing::table ? size : fill(v) + size / (size + 1.0);
  if (random_) key *= 1.0 + variation * random_->uniform();
  queue_.push({key, v, ++version_[at(v)]});
}

void Elimination::eliminate(std::int32_t v) {
  gone_[at(v)] = 1;
  const std::vector<std::int32_t> around = std::move(graph_[at(v)]);
  graph_[at(v)].clear();
  touched_.assign(around.begin(), around.end());
  for (const std::int32_t u : around) {
    auto& mine = graph_[at(u)];
    merged_.clear();
    std::set_union(mine.begin(), mine.end(), around.begin(), around.end(),
                   std::back_inserter(merged_));
    std::erase_if(merged_, [&](std::int32_t w) { return w == u || w == v; });
    const bool joined = merged_.size() >= mine.size();  // it lost v and gained others
    mine.assign(merged_.begin(), merged_.end());
    if (rule_ == Weighing::fill && joined) touched_.insert(touched_.end(), mine.begin(), mine.end());
  }
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const std::int32_t u : touched_) push(u);
}

WeightedOrder Elimination::run(double give_up_at) {
  WeightedOrder result;
  double total = 0;
  for (std::size_t v = 0; v < graph_.size(); ++v) push(static_cast<std::int32_t>(v));
  while (!queue_.empty()) {
    const Entry next = queue_.top();
    queue_.pop();
    if (gone_[at(next.vertex)] || next.version != version_[at(next.vertex)]) continue;
    const double size = table_size(next.vertex);
    total += size;
    if (total >= give_up_at && give_up_at < infinity) return {};
    result.largest = std::max(result.largest, size);
    result.order.push_back(next.vertex);
    eliminate(next.vertex);
  }
  result.n_entries = total;
  return result;
}

}  // namespace

WeightedOrder greedy_order(Adjacency graph, std::span<const double> n_states,
                           std::span<const char> last, Weighing rule, Random* random,
                           double give_up_at) {
  return Elimination(std::move(graph), n_states, last, rule, random).run(give_up_at);
}

WeightedOrder best_order(const Adjacency& graph, std::span<const double> n_states,
                         std::span<const char> last, std::uint64_t seed, double seconds,
                         const Control& control) {
  const auto begun = Clock::now();
  WeightedOrder best = greedy_order(graph, n_states, last, Weighing::table, nullptr, infinity);
  const double worth_one = entries_for_one_vertex * static_cast<double>(graph.size());
  for (int i = 0; i < max_tries && best.n_entries > worth_one * (i + 1); ++i) {
    const std::chrono::duration<double> taken = Clock::now() - begun;
    if (taken.count() > seconds || control.expired()) break;
    const Weighing rule = i % 2 == 0 ? Weighing::fill : Weighing::table;
    Random random(seed, static_cast<std::uint64_t>(i));
    WeightedOrder found =
        greedy_order(graph, n_states, last, rule, i == 0 ? nullptr : &random, best.n_entries);
    if (found.n_entries < best.n_entries) best = std::move(found);
  }
  return best;
}

}  // namespace twbn
