// A live graph built from the empty set upwards: the prices of clusters say what is left to gain.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "base/numbers.h"
#include "exact/live_graph.h"
#include "exact/subset_numbers.h"

namespace twbn {

namespace {

/// Subsets that one thread takes at a time.
constexpr std::size_t chunk_size = 256;
/// What rounding may take from a sum, as a share of what is summed.
constexpr double rounding = 1e-12;

// A step from one layer to the next, before its subset has a number.
struct Candidate {
  std::uint32_t to;
  std::uint32_t family;
  double value;
};

// What one child may still add. A cluster that S does not meet pays its price to each family that
// satisfies it, and takes it back once; only clusters with the child in them can pay.
class ChildPrices {
 public:
  ChildPrices(const LiveGraph& graph, int child, const ClusterPrices& prices);

  // The greatest value of a family, with the prices that are paid to it while S is placed; `open`
  // becomes the sum of the prices of the child's clusters that S does not meet.
  double most(std::uint32_t subset, std::vector<std::uint64_t>& met, double& open) const;

 private:
  std::vector<std::uint32_t> clusters_;
  std::vector<double> prices_;
  std::size_t n_words_;
  // Families by what they are worth if no cluster is met, the most first.
  std::vector<double> worths_;
  std::vector<std::uint64_t> satisfied_;  // for each family, which clusters: n_words_ words
};

ChildPrices::ChildPrices(const LiveGraph& graph, int child, const ClusterPrices& prices) {
  for (std::size_t c = 0; c < prices.clusters.size(); ++c) {
    if ((prices.clusters[c] & bit(child)) == 0 || prices.prices[c] <= 0) continue;
    clusters_.push_back(prices.clusters[c]);
    prices_.push_back(prices.prices[c]);
  }
  n_words_ = (clusters_.size() + 63) / 64;
  const std::uint32_t first = graph.family_offsets[at(child)];
  const std::size_t n_families = graph.family_offsets[at(child) + 1] - first;
  std::vector<double> worths(n_families);
  std::vector<std::uint64_t> satisfied(n_families * n_words_);
  for (std::size_t f = 0; f < n_families; ++f) {
    worths[f] = graph.values[first + f];
    for (std::size_t c = 0; c < clusters_.size(); ++c) {
      if (clusters_[c] & graph.parents[first + f]) continue;
      worths[f] += prices_[c];
      satisfied[f * n_words_ + c / 64] |= std::uint64_t{1} << (c % 64);
    }
  }
  std::vector<std::size_t> order(n_families);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return worths[a] > worths[b]; });
  for (const std::size_t f : order) {
    worths_.push_back(worths[f]);
    const auto words = satisfied.begin() + static_cast<std::ptrdiff_t>(f * n_words_);
    satisfied_.insert(satisfied_.end(), words, words + static_cast<std::ptrdiff_t>(n_words_));
  }
}

double ChildPrices::most(std::uint32_t subset, std::vector<std::uint64_t>& met,
                         double& open) const {
  met.assign(n_words_, 0);
  open = 0;
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    if (clusters_[c] & subset) {
      met[c / 64] |= std::uint64_t{1} << (c % 64);
    } else {
      open += prices_[c];
    }
  }
  double most = minus_infinity;
  for (std::size_t f = 0; f < worths_.size() && worths_[f] > most; ++f) {
    double worth = worths_[f];
    const std::uint64_t* words = &satisfied_[f * n_words_];
    for (std::size_t w = 0; w < n_words_ && worth > most; ++w) {
      for (std::uint64_t lost = words[w] & met[w]; lost; lost &= lost - 1) {
        worth -= prices_[w * 64 + at(std::countr_zero(lost))];
      }
    }
    most = std::max(most, worth);
  }
  return most;
}

class LiveLayers {
 public:
  LiveLayers(const ClusterPrices& prices, double least, std::int64_t max_bytes, LiveGraph& graph)
      : prices_(prices), least_(least), margin_(0), max_bytes_(max_bytes), graph_(graph) {
    for (int v = 0; v < graph.n; ++v) children_.emplace_back(graph, v, prices);
    margin_ = std::accumulate(prices.prices.begin(), prices.prices.end(), 1.0 + std::abs(least));
    margin_ *= rounding;
    graph.subsets.assign(1, 0);
    graph.to_go.assign(1, 0.0);
    graph.step_offsets.assign(1, 0);
    reached_.assign(1, 0.0);
  }

  LiveOutcome build(int n_jobs, Control& control);

 private:
  struct Scratch {
    std::vector<double> most, open;
    std::vector<std::uint64_t> met;
  };
  // The steps out of a chunk of subsets.
  struct Steps {
    std::vector<Candidate> candidates;
    std::vector<std::uint32_t> counts;  // for each subset
  };

  void expand(std::size_t number, Scratch& scratch, Steps& steps);
  double left_to_gain(std::uint32_t subset, Scratch& scratch) const;
  void number(const Steps& steps);
  // Bytes in use while a layer is expanded, and those that its steps will take in the graph.
  bool fits(std::size_t n_candidates) const {
    const std::size_t graph = graph_.bytes() + reached_.size() * sizeof(double) + numbers_.bytes();
    const std::size_t layer = n_candidates * (sizeof(Candidate) + sizeof(LiveGraph::Step));
    return static_cast<std::int64_t>(graph + layer) <= max_bytes_;
  }

  const ClusterPrices& prices_;
  double least_;
  double margin_;  // what rounding may take from a sum
  std::int64_t max_bytes_;
  LiveGraph& graph_;
  std::vector<ChildPrices> children_;
  std::vector<double> reached_;
  SubsetNumbers numbers_;  // of the next layer
};

LiveOutcome LiveLayers::build(int n_jobs, Control& control) {
  std::size_t first = 0;
  std::atomic<bool> full_up{false};
  for (int size = 0; size <= graph_.n; ++size) {
    const std::size_t last = graph_.subsets.size();
    std::vector<Steps> chunks((last - first + chunk_size - 1) / chunk_size);
    std::atomic<std::size_t> n_candidates{0};
    for_each_unit(
        static_cast<std::int64_t>(chunks.size()), n_jobs, control, [] { return Scratch(); },
        [&](std::int64_t chunk, Scratch& scratch) {
          if (full_up.load()) return;
          const std::size_t begin = first + at(chunk) * chunk_size;
          for (std::size_t i = begin; i < std::min(begin + chunk_size, last); ++i) {
            expand(i, scratch, chunks[at(chunk)]);
          }
          const std::size_t n_new = chunks[at(chunk)].candidates.size();
          if (!fits(n_candidates.fetch_add(n_new) + n_new)) full_up.store(true);
        },
        [](Scratch&) {});
    if (control.expired()) return LiveOutcome::stopped;
    if (full_up.load()) return LiveOutcome::out_of_memory;
    numbers_.clear();
    for (const Steps& steps : chunks) number(steps);
    first = last;
  }
  const std::uint32_t full = bit(graph_.n - 1) | (bit(graph_.n - 1) - 1);
  if (graph_.subsets.back() != full) graph_.subsets.clear();
  return LiveOutcome::built;
}

// What the children outside a subset may add: each its most, less the prices that are still open.
double LiveLayers::left_to_gain(std::uint32_t subset, Scratch& scratch) const {
  double sum = margin_;
  for (std::size_t c = 0; c < prices_.clusters.size(); ++c) {
    if ((prices_.clusters[c] & subset) == 0) sum -= prices_.prices[c];
  }
  scratch.most.resize(at(graph_.n));
  scratch.open.resize(at(graph_.n));
  for (std::size_t v = 0; v < at(graph_.n); ++v) {
    if (subset & bit(static_cast<int>(v))) continue;
    scratch.most[v] = children_[v].most(subset, scratch.met, scratch.open[v]);
    sum += scratch.most[v];
  }
  return sum;
}

// A step with a family costs what the family is worth less than the child's most, as all of the
// child's clusters that are still open pay to it; what is left to gain falls by no less.
void LiveLayers::expand(std::size_t number, Scratch& scratch, Steps& steps) {
  const std::uint32_t subset = graph_.subsets[number];
  const double to_go = left_to_gain(subset, scratch);
  graph_.to_go[number] = to_go;
  const double slack = reached_[number] + to_go - least_;
  const std::size_t before = steps.candidates.size();
  for (int v = 0; slack >= 0 && v < graph_.n; ++v) {
    if (subset & bit(v)) continue;
    const double needed = scratch.most[at(v)] - scratch.open[at(v)] - slack;
    const std::uint32_t end = graph_.family_offsets[at(v) + 1];
    for (std::uint32_t f = graph_.family_offsets[at(v)]; f < end && graph_.values[f] >= needed; ++f) {
      if (graph_.parents[f] & ~subset) continue;
      steps.candidates.push_back({subset | bit(v), f, reached_[number] + graph_.values[f]});
      break;
    }
  }
  steps.counts.push_back(static_cast<std::uint32_t>(steps.candidates.size() - before));
}

void LiveLayers::number(const Steps& steps) {
  for (const Candidate& step : steps.candidates) {
    const auto next = static_cast<std::uint32_t>(graph_.subsets.size());
    const std::uint32_t to = numbers_.find_or_insert(step.to, next);
    if (to == next) {
      graph_.subsets.push_back(step.to);
      graph_.to_go.push_back(0.0);
      reached_.push_back(step.value);
    } else {
      reached_[to] = std::max(reached_[to], step.value);
    }
    graph_.steps.push_back({to, step.family});
  }
  for (const std::uint32_t count : steps.counts) {
    graph_.step_offsets.push_back(graph_.step_offsets.back() + count);
  }
}

}  // namespace

LiveOutcome build_by_prices(const ClusterPrices& prices, double least, std::int64_t max_bytes,
                            int n_jobs, Control& control, LiveGraph& graph) {
  LiveLayers layers(prices, least, max_bytes, graph);
  return layers.build(n_jobs, control);
}

}  // namespace twbn
