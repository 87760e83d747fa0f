#include "scores/local_score.h"

#include <algorithm>

namespace twbn {

namespace {
// Bitmaps take the time of a few words for every cell and every word of it, row by row takes that of
// a few words for every row: measured with 2,000 and with 17,000 rows.
constexpr double few_cells = 64, words_per_cell = 30, words_per_row = 6;
}  // namespace

LocalScorer::LocalScorer(const Columns& columns, const Terms& terms)
    : columns_(columns), terms_(terms), cells_(columns) {}

double LocalScorer::score(int child, std::span<const int> parents) {
  child_arity_ = columns_.arity(child);
  parent_cells_ = 1.0;
  for (const int v : parents) parent_cells_ *= columns_.arity(v);
  joint_cells_ = parent_cells_ * child_arity_;
  joint_table_ = table(joint_cells_, 0);
  parent_table_ = table(parent_cells_, terms_.parent_is_joint() ? 0 : child_arity_);
  joint_ = parent_ = 0;
  observed_cells_ = 0;

  if (fits_bitmaps(child, parents)) {
    bitmaps_.resize((parents.size() + 1) * columns_.n_words());
    std::fill_n(bitmaps_.begin(), columns_.n_words(), ~std::uint64_t{0});
    const std::size_t n_rows = columns_.n_rows();
    for (std::size_t w = n_rows / 64; w < columns_.n_words(); ++w) {
      bitmaps_[w] = w == n_rows / 64 ? (std::uint64_t{1} << (n_rows % 64)) - 1 : 0;
    }
    split(0, parents, child);
  } else {
    cells_.start();
    for (const int v : parents) cells_.extend(v);
    cells_.for_each_count_with(
        child,
        [&](double count) {
          ++observed_cells_;
          joint_ += joint_cell(count);
        },
        [&](double count) { parent_ += parent_cell(count); });
  }
  return joint_ - parent_ - terms_.penalty(parent_cells_, child_arity_);
}

const double* LocalScorer::table(double n_cells, int child_arity) {
  KnownTable& known = tables_[static_cast<std::size_t>(n_cells) % tables_.size()];
  if (known.n_cells != n_cells || known.child_arity != child_arity) {
    known = {n_cells, child_arity, terms_.table(n_cells, child_arity)};
  }
  return known.table;
}

double LocalScorer::parent_term(std::span<const int> parents, int child_arity) {
  double n_cells = 1.0;
  for (const int v : parents) n_cells *= columns_.arity(v);
  cells_.start();
  for (const int v : parents) cells_.extend(v);
  double sum = 0;
  cells_.for_each_count(
      [&](double count) { sum += terms_.parent_cell(count, n_cells, child_arity); });
  return sum;
}

bool LocalScorer::fits_bitmaps(int child, std::span<const int> parents) const {
  const double by_bitmaps =
      joint_cells_ * (static_cast<double>(columns_.n_words()) + words_per_cell);
  const double by_rows = words_per_row * static_cast<double>(columns_.n_rows());
  return columns_.packed(child) && (joint_cells_ <= few_cells || by_bitmaps <= by_rows) &&
         std::all_of(parents.begin(), parents.end(), [&](int v) { return columns_.packed(v); });
}

// Depth-first over the parent configurations; bitmaps_[depth] holds the rows of the current one.
void LocalScorer::split(std::size_t depth, std::span<const int> parents, int child) {
  const std::size_t n_words = columns_.n_words();
  const std::uint64_t* rows = bitmaps_.data() + depth * n_words;
  const int v = depth == parents.size() ? child : parents[depth];
  const std::size_t first = columns_.first_bit_column(v);
  const auto arity = static_cast<std::size_t>(columns_.arity(v));
  if (depth == parents.size()) {
    std::uint32_t counts[Columns::max_packed_states];
    columns_.count(rows, first, arity - 1, counts);
    const std::uint32_t total = columns_.count_rows(rows);
    std::uint64_t rest = total;
    const double unit = columns_.unit();
    const auto add = [&](std::uint64_t units) {
      if (units == 0) return;
      ++observed_cells_;
      joint_ += joint_table_ ? joint_table_[units] : joint_cell(unit * static_cast<double>(units));
    };
    for (std::size_t state = 0; state + 1 < arity; ++state) {
      add(counts[state]);
      rest -= counts[state];
    }
    add(rest);
    parent_ += parent_table_ ? parent_table_[total] : parent_cell(unit * static_cast<double>(total));
    return;
  }
  std::uint64_t* below = bitmaps_.data() + (depth + 1) * n_words;
  for (std::size_t state = 0; state < arity; ++state) {
    std::uint64_t any = 0;
    if (state > 0) {
      const std::uint64_t* column = columns_.bit_column(first + state - 1);
      for (std::size_t w = 0; w < n_words; ++w) any |= below[w] = rows[w] & column[w];
    } else {
      std::copy_n(rows, n_words, below);
      for (std::size_t other = 1; other < arity; ++other) {
        const std::uint64_t* column = columns_.bit_column(first + other - 1);
        for (std::size_t w = 0; w < n_words; ++w) below[w] &= ~column[w];
      }
      for (std::size_t w = 0; w < n_words; ++w) any |= below[w];
    }
    if (any != 0) split(depth + 1, parents, child);
  }
}

double LocalScorer::joint_cell(double count) const {
  return joint_table_ ? joint_table_[columns_.in_units(count)]
                      : terms_.joint_cell(count, joint_cells_);
}

double LocalScorer::parent_cell(double count) const {
  return parent_table_ ? parent_table_[columns_.in_units(count)]
                       : terms_.parent_cell(count, parent_cells_, child_arity_);
}

}  // namespace twbn
