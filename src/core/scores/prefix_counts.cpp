#include "scores/prefix_counts.h"

#include <algorithm>

namespace twbn {

namespace {
// Beyond this many cells a pass over the rows is cheaper than one popcount per cell.
constexpr std::size_t max_packed_cells = 96;
}  // namespace

PrefixCounter::PrefixCounter(const Columns& columns, const Terms& terms)
    : columns_(columns), terms_(terms), cells_(columns) {
  all_binary_ = columns.whole_counts() &&
                std::all_of(columns.arities().begin(), columns.arities().end(),
                            [](std::int32_t arity) { return arity == 2; });
}

void PrefixCounter::start(Prefix& prefix) const {
  prefix.variables.clear();
  prefix.n_configurations = 1;
  prefix.n_cells = 1;
  prefix.packed = columns_.whole_counts();
  prefix.counted = 0;
  if (!prefix.packed) return;
  const std::size_t n_rows = columns_.n_rows();
  prefix.bitmaps.assign(columns_.n_words(), 0);
  for (std::size_t row = 0; row < n_rows; ++row) {
    prefix.bitmaps[row / 64] |= std::uint64_t{1} << (row % 64);
  }
  prefix.cell_counts.assign(1, columns_.count_rows(prefix.bitmaps.data()));
  prefix.counted = columns_.n_bit_columns();
  prefix.counts.resize(prefix.counted);
  columns_.count(prefix.bitmaps.data(), 0, prefix.counted, prefix.counts.data());
}

void PrefixCounter::extend(const Prefix& parent, int v, int limit, bool last, Prefix& child) const {
  child.variables = parent.variables;
  child.variables.push_back(v);
  child.n_configurations = parent.n_configurations * columns_.arity(v);
  const auto arity = static_cast<std::size_t>(columns_.arity(v));
  child.packed =
      parent.packed && columns_.packed(v) && parent.n_cells * arity <= max_packed_cells;
  if (!child.packed) return;

  const std::size_t n_words = columns_.n_words();
  const std::size_t first = columns_.first_bit_column(v);
  const std::size_t counted = columns_.first_bit_column(limit);
  const std::size_t max_cells = parent.n_cells * arity;
  child.counted = counted;
  child.bitmaps.resize(max_cells * n_words);
  child.cell_counts.resize(max_cells);
  child.counts.resize(max_cells * counted);

  std::size_t next = 0;
  for (std::size_t cell = 0; cell < parent.n_cells; ++cell) {
    const std::uint64_t* rows = parent.bitmaps.data() + cell * n_words;
    const std::uint32_t* row_counts = parent.counts.data() + cell * parent.counted;
    // State 0 first: it takes what the other states leave.
    const std::size_t zero = next++;
    std::uint64_t* zero_rows = child.bitmaps.data() + zero * n_words;
    std::uint32_t* zero_counts = child.counts.data() + zero * counted;
    std::uint32_t zero_total = parent.cell_counts[cell];
    if (!last) std::copy_n(rows, n_words, zero_rows);
    std::copy_n(row_counts, counted, zero_counts);
    for (std::size_t state = 1; state < arity; ++state) {
      const std::uint32_t total = row_counts[first + state - 1];
      if (total == 0) continue;
      const std::uint64_t* column = columns_.bit_column(first + state - 1);
      std::uint64_t* state_rows = child.bitmaps.data() + next * n_words;
      std::uint32_t* state_counts = child.counts.data() + next * counted;
      for (std::size_t w = 0; w < n_words; ++w) state_rows[w] = rows[w] & column[w];
      if (!last) {
        for (std::size_t w = 0; w < n_words; ++w) zero_rows[w] &= ~column[w];
      }
      columns_.count(state_rows, 0, counted, state_counts);
      for (std::size_t c = 0; c < counted; ++c) zero_counts[c] -= state_counts[c];
      child.cell_counts[next] = total;
      zero_total -= total;
      ++next;
    }
    child.cell_counts[zero] = zero_total;
    if (zero_total == 0) {  // not observed: the last cell takes its place
      --next;
      if (zero != next) {
        std::copy_n(child.bitmaps.data() + next * n_words, n_words, zero_rows);
        std::copy_n(child.counts.data() + next * counted, counted, zero_counts);
        child.cell_counts[zero] = child.cell_counts[next];
      }
    }
  }
  child.n_cells = next;
}

void PrefixCounter::joint_terms(const Prefix& prefix, int limit, double* joint, std::uint32_t* observed) {
  sum_terms(prefix, limit, 0, joint, observed);
}

void PrefixCounter::parent_terms(const Prefix& prefix, int limit, int child_arity, double* parent) {
  sum_terms(prefix, limit, child_arity, parent, nullptr);
}

void PrefixCounter::sum_terms(const Prefix& prefix, int limit, int child_arity, double* sums,
                              std::uint32_t* observed) {
  if (prefix.packed && all_binary_) {
    const double* table = terms_.table(prefix.n_configurations * 2, child_arity);
    if (table) {
      sum_packed_binary(prefix, static_cast<std::size_t>(limit), table, sums, observed);
      return;
    }
  }
  bool numbered = false;  // cells_ holds the cells of this prefix
  for (int a = 0; a < limit; ++a) {
    if (std::find(prefix.variables.begin(), prefix.variables.end(), a) != prefix.variables.end()) {
      continue;
    }
    std::uint32_t cells = 0;
    if (prefix.packed && columns_.packed(a)) {
      sums[a] = sum_packed(prefix, a, child_arity, cells);
    } else {
      if (!numbered) {
        cells_.start();
        for (const int v : prefix.variables) cells_.extend(v);
        numbered = true;
      }
      sums[a] = sum_rows(a, prefix.n_configurations * columns_.arity(a), child_arity, cells);
    }
    if (observed) observed[a] = cells;
  }
}

// Binary columns only: bit column a is variable a, and the loop over a needs no branch.
void PrefixCounter::sum_packed_binary(const Prefix& prefix, std::size_t limit, const double* table,
                                      double* sums, std::uint32_t* observed) const {
  std::fill_n(sums, limit, 0.0);
  if (observed) std::fill_n(observed, limit, 0U);
  for (std::size_t cell = 0; cell < prefix.n_cells; ++cell) {
    const std::uint32_t* counts = prefix.counts.data() + cell * prefix.counted;
    const std::uint32_t total = prefix.cell_counts[cell];
    for (std::size_t a = 0; a < limit; ++a) sums[a] += table[counts[a]] + table[total - counts[a]];
    if (!observed) continue;
    for (std::size_t a = 0; a < limit; ++a) {
      observed[a] += static_cast<std::uint32_t>(counts[a] > 0) +
                     static_cast<std::uint32_t>(counts[a] < total);
    }
  }
}

double PrefixCounter::sum_packed(const Prefix& prefix, int a, int child_arity,
                                 std::uint32_t& observed) const {
  const double n_cells = prefix.n_configurations * columns_.arity(a);
  const double* table = terms_.table(n_cells, child_arity);
  const auto term = [&](std::uint32_t units) {
    if (units == 0) return 0.0;
    ++observed;
    if (table) return table[units];
    const double count = columns_.unit() * units;
    return child_arity == 0 ? terms_.joint_cell(count, n_cells)
                            : terms_.parent_cell(count, n_cells, child_arity);
  };
  double sum = 0;
  for (std::size_t cell = 0; cell < prefix.n_cells; ++cell) {
    std::uint32_t rest = prefix.cell_counts[cell];
    const std::uint32_t* counts = prefix.counts.data() + cell * prefix.counted;
    for (std::size_t c = columns_.first_bit_column(a); c < columns_.first_bit_column(a + 1); ++c) {
      sum += term(counts[c]);
      rest -= counts[c];
    }
    sum += term(rest);
  }
  return sum;
}

double PrefixCounter::sum_rows(int a, double n_cells, int child_arity, std::uint32_t& observed) {
  const double* table = terms_.table(n_cells, child_arity);
  double sum = 0;
  const auto add = [&](double count) {
    ++observed;
    sum += table                ? table[columns_.in_units(count)]
           : (child_arity == 0) ? terms_.joint_cell(count, n_cells)
                                : terms_.parent_cell(count, n_cells, child_arity);
  };
  cells_.for_each_count_with(a, add, [](double) {});
  return sum;
}

}  // namespace twbn
