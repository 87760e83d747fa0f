// The tables over all subsets from which a live graph is built.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "exact/live_graph.h"

namespace twbn {

namespace {

// The least float that is not below a number: bounds stay bounds.
float rounded_up(double x) {
  const auto result = static_cast<float>(x);
  if (static_cast<double>(result) >= x || std::isinf(x)) return result;
  return std::nextafterf(result, std::numeric_limits<float>::infinity());
}

// A subset without v as a number of n - 1 bits.
std::size_t squeezed(int v, std::uint32_t subset) {
  const std::uint32_t low = (std::uint32_t{1} << v) - 1;
  return (subset & low) | ((subset >> 1) & ~low);
}

class LiveTables {
 public:
  LiveTables(int n, double least)
      : least_(least),
        n_(n),
        full_(static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1)) {}

  bool fill(const LiveGraph& graph, int n_jobs, Control& control);
  LiveOutcome build(LiveGraph& graph, std::int64_t max_bytes, Control& control);

 private:
  void fill_best(const LiveGraph& graph, int v);
  bool fill_to_go(Control& control);
  bool fill_reached(Control& control);
  float best(int v, std::uint32_t subset) const {
    return best_[static_cast<std::size_t>(v)][squeezed(v, subset)];
  }
  bool live(std::uint32_t subset) const {
    return double{reached_[subset]} + double{to_go_[subset]} >= least_;
  }

  double least_;
  int n_;
  std::uint32_t full_;
  std::vector<std::vector<float>> best_;  // for each child and subset of the others
  std::vector<float> to_go_, reached_;
};

bool LiveTables::fill(const LiveGraph& graph, int n_jobs, Control& control) {
  best_.resize(static_cast<std::size_t>(n_));
  for_each_unit(
      n_, n_jobs, control, [] { return 0; },
      [&](std::int64_t v, int) { fill_best(graph, static_cast<int>(v)); }, [](int) {});
  return !control.expired() && fill_to_go(control) && fill_reached(control);
}

// Every family at its place, then the best over subsets, one member at a time.
void LiveTables::fill_best(const LiveGraph& graph, int v) {
  std::vector<float>& best = best_[static_cast<std::size_t>(v)];
  const std::size_t size = std::size_t{1} << (n_ - 1);
  best.assign(size, -std::numeric_limits<float>::infinity());
  const auto child = static_cast<std::size_t>(v);
  for (std::uint32_t f = graph.family_offsets[child]; f < graph.family_offsets[child + 1]; ++f) {
    float& place = best[squeezed(v, graph.parents[f])];
    place = std::max(place, rounded_up(graph.values[f]));
  }
  for (int bit = 0; bit + 1 < n_; ++bit) {
    const std::size_t step = std::size_t{1} << bit;
    for (std::size_t block = 0; block < size; block += 2 * step) {
      for (std::size_t i = block; i < block + step; ++i) {
        best[i + step] = std::max(best[i + step], best[i]);
      }
    }
  }
}

bool LiveTables::fill_to_go(Control& control) {
  to_go_.assign(std::size_t{full_} + 1, -std::numeric_limits<float>::infinity());
  to_go_[full_] = 0;
  for (std::uint32_t subset = full_; subset-- > 0;) {
    if ((subset & 0xfffff) == 0 && control.expired()) return false;
    double most = minus_infinity;
    for (std::uint32_t rest = full_ & ~subset; rest; rest &= rest - 1) {
      const int v = std::countr_zero(rest);
      most = std::max(most, double{best(v, subset)} + double{to_go_[subset | (rest & -rest)]});
    }
    to_go_[subset] = most < least_ ? -std::numeric_limits<float>::infinity() : rounded_up(most);
  }
  return true;
}

bool LiveTables::fill_reached(Control& control) {
  reached_.assign(std::size_t{full_} + 1, -std::numeric_limits<float>::infinity());
  reached_[0] = 0;
  for (std::uint32_t subset = 0; subset < full_; ++subset) {
    if ((subset & 0xfffff) == 0 && control.expired()) return false;
    if (!live(subset)) continue;
    for (std::uint32_t rest = full_ & ~subset; rest; rest &= rest - 1) {
      const int v = std::countr_zero(rest);
      const std::uint32_t next = subset | (rest & -rest);
      const double value = double{reached_[subset]} + double{best(v, subset)};
      if (value + double{to_go_[next]} < least_) continue;
      reached_[next] = std::max(reached_[next], rounded_up(value));
    }
  }
  return true;
}

LiveOutcome LiveTables::build(LiveGraph& graph, std::int64_t max_bytes, Control& control) {
  std::vector<std::uint32_t> number(std::size_t{full_} + 1, no_number);
  for (std::uint64_t subset = 0; subset <= full_; ++subset) {
    if (!live(static_cast<std::uint32_t>(subset))) continue;
    number[subset] = static_cast<std::uint32_t>(graph.subsets.size());
    graph.subsets.push_back(static_cast<std::uint32_t>(subset));
    graph.to_go.push_back(to_go_[subset]);
  }
  graph.step_offsets.push_back(0);
  for (const std::uint32_t subset : graph.subsets) {
    if (control.expired()) return LiveOutcome::stopped;
    for (std::uint32_t rest = full_ & ~subset; rest; rest &= rest - 1) {
      const int v = std::countr_zero(rest);
      const std::uint32_t next = subset | (rest & -rest);
      if (number[next] == no_number) continue;
      const double needed = least_ - double{reached_[subset]} - double{to_go_[next]};
      if (double{best(v, subset)} < needed) continue;
      std::uint32_t family = graph.family_offsets[static_cast<std::size_t>(v)];
      while (graph.parents[family] & ~subset) ++family;  // there is one: the best is not nothing
      graph.steps.push_back({number[next], family});
    }
    if (static_cast<std::int64_t>(graph.bytes()) > max_bytes) return LiveOutcome::out_of_memory;
    graph.step_offsets.push_back(static_cast<std::uint32_t>(graph.steps.size()));
  }
  return LiveOutcome::built;
}

}  // namespace

double live_table_bytes(int n) { return 4 * std::ldexp(n / 2.0 + 3, n); }

LiveOutcome build_by_tables(double least, std::int64_t max_bytes, int n_jobs, Control& control,
                            LiveGraph& graph) {
  const auto of_tables = static_cast<std::int64_t>(live_table_bytes(graph.n));
  if (of_tables > max_bytes) return LiveOutcome::out_of_memory;
  LiveTables tables(graph.n, least);
  if (!tables.fill(graph, n_jobs, control)) return LiveOutcome::stopped;
  return tables.build(graph, max_bytes - of_tables, control);
}

}  // namespace twbn
