#include "exact/subset_dp.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace twbn {

namespace {
}

double subset_dp_bytes(int n) { return 8 * std::ldexp(n / 2.0 + 1, n); }

SubsetTables::SubsetTables(const ScoreIndex& index, std::span<const double> scores, int n_jobs,
                           Control& control)
    : index_(index), scores_(scores), n_(index.n_variables()), best_(static_cast<std::size_t>(n_)) {
  for_each_unit(
      n_, n_jobs, control, [] { return 0; },
      [&](std::int64_t v, int) { fill_best(static_cast<int>(v)); }, [](int) {});
  if (control.expired()) return;
  fill_to_go(control);
}

// Every set at its place, then the best over subsets, one member at a time.
void SubsetTables::fill_best(int v) {
  std::vector<double>& best = best_[static_cast<std::size_t>(v)];
  const std::size_t size = std::size_t{1} << (n_ - 1);
  best.assign(size, minus_infinity);
  for (std::int64_t set = index_.variable_offsets()[static_cast<std::size_t>(v)];
       set < index_.variable_offsets()[static_cast<std::size_t>(v) + 1]; ++set) {
    std::uint32_t mask = 0;
    for (const std::int32_t p : index_.parents(set)) mask |= std::uint32_t{1} << p;
    double& place = best[squeeze(v, mask)];
    place = std::max(place, scores_[static_cast<std::size_t>(set)]);
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

void SubsetTables::fill_to_go(Control& control) {
  const auto full = static_cast<std::uint32_t>((std::uint64_t{1} << n_) - 1);
  to_go_.assign(std::size_t{full} + 1, minus_infinity);
  to_go_[full] = 0.0;
  for (std::uint32_t subset = full; subset-- > 0;) {
    if ((subset & 0xfffff) == 0 && control.expired()) return;
    double best = minus_infinity;
    for (std::uint32_t rest = full & ~subset; rest; rest &= rest - 1) {
      const int v = __builtin_ctz(rest);
      best = std::max(best, best_parents(v, subset) + to_go_[subset | (rest & -rest)]);
    }
    to_go_[subset] = best;
  }
  complete_ = true;
}

std::vector<std::vector<std::int32_t>> SubsetTables::optimal_parents() const {
  std::vector<std::vector<std::int32_t>> parents(static_cast<std::size_t>(n_));
  const auto full = static_cast<std::uint32_t>((std::uint64_t{1} << n_) - 1);
  for (std::uint32_t subset = 0; subset != full;) {
    for (std::uint32_t rest = full & ~subset; rest; rest &= rest - 1) {
      const int v = __builtin_ctz(rest);
      const std::uint32_t bit = rest & -rest;
      const double local = best_parents(v, subset);
      if (local + to_go_[subset | bit] != to_go_[subset]) continue;
      for (std::int64_t set = index_.variable_offsets()[static_cast<std::size_t>(v)];; ++set) {
        if (scores_[static_cast<std::size_t>(set)] != local) continue;
        const auto members = index_.parents(set);
        const bool inside = std::all_of(members.begin(), members.end(), [&](std::int32_t p) {
          return (subset >> p & 1) != 0;
        });
        if (!inside) continue;
        parents[static_cast<std::size_t>(v)].assign(members.begin(), members.end());
        break;
      }
      subset |= bit;
      break;
    }
  }
  return parents;
}

}  // namespace twbn
