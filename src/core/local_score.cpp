#include "local_score.h"

#include <algorithm>

#include "popcount.h"

namespace twbn {

namespace {
constexpr double max_bitmap_configurations = 64;
constexpr std::uint32_t unseen = ~std::uint32_t{0};
}  // namespace

LocalScorer::LocalScorer(const Columns& columns, const Terms& terms)
    : columns_(columns), terms_(terms) {}

double LocalScorer::score(int child, std::span<const int> parents) {
  child_arity_ = columns_.arity(child);
  parent_cells_ = 1.0;
  for (const int v : parents) parent_cells_ *= columns_.arity(v);
  joint_cells_ = parent_cells_ * child_arity_;
  joint_table_ = terms_.table(joint_cells_, 0);
  parent_table_ = terms_.table(parent_cells_, terms_.parent_is_joint() ? 0 : child_arity_);
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
    count_rows(parents);
    const auto arity = static_cast<std::size_t>(child_arity_);
    counts_.assign(n_cells_ * arity, 0.0);
    const std::uint16_t* codes = columns_.codes(child);
    const auto& weights = columns_.weights();
    for (std::size_t row = 0; row < columns_.n_rows(); ++row) {
      counts_[cell_of_row_[row] * arity + codes[row]] += weights.empty() ? 1.0 : weights[row];
    }
    for (std::size_t cell = 0; cell < n_cells_; ++cell) {
      add_configuration(std::span(counts_).subspan(cell * arity, arity));
    }
  }
  return joint_ - parent_ - terms_.penalty(parent_cells_, child_arity_);
}

double LocalScorer::parent_term(std::span<const int> parents, int child_arity) {
  double n_cells = 1.0;
  for (const int v : parents) n_cells *= columns_.arity(v);
  count_rows(parents);
  counts_.assign(n_cells_, 0.0);
  const auto& weights = columns_.weights();
  for (std::size_t row = 0; row < columns_.n_rows(); ++row) {
    counts_[cell_of_row_[row]] += weights.empty() ? 1.0 : weights[row];
  }
  double sum = 0;
  for (const double count : counts_) sum += terms_.parent_cell(count, n_cells, child_arity);
  return sum;
}

bool LocalScorer::fits_bitmaps(int child, std::span<const int> parents) const {
  return columns_.packed(child) && joint_cells_ <= max_bitmap_configurations &&
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
    std::uint32_t bits[Columns::max_packed_states];
    double counts[Columns::max_packed_states];
    and_popcount(rows, columns_.bit_column(first), arity - 1, n_words, bits);
    std::uint64_t all = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
      all += static_cast<std::uint64_t>(__builtin_popcountll(rows[w]));
    }
    counts[0] = static_cast<double>(all);
    for (std::size_t state = 1; state < arity; ++state) {
      counts[state] = bits[state - 1];
      counts[0] -= counts[state];
    }
    add_configuration(std::span<const double>(counts, arity));
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

void LocalScorer::add_configuration(std::span<const double> counts) {
  double total = 0;
  for (const double count : counts) {
    if (count <= 0) continue;
    ++observed_cells_;
    total += count;
    joint_ += joint_table_ ? joint_table_[static_cast<std::size_t>(count)]
                           : terms_.joint_cell(count, joint_cells_);
  }
  if (total > 0) {
    parent_ += parent_table_ ? parent_table_[static_cast<std::size_t>(total)]
                             : terms_.parent_cell(total, parent_cells_, child_arity_);
  }
}

// Numbers the cells of `variables` that occur, 0 .. n_cells_ - 1, and notes each row's cell.
void LocalScorer::count_rows(std::span<const int> variables) {
  cell_of_row_.assign(columns_.n_rows(), 0);
  n_cells_ = 1;
  const std::size_t dense = std::max<std::size_t>(4096, columns_.n_rows());
  for (const int v : variables) {
    const auto arity = static_cast<std::uint32_t>(columns_.arity(v));
    if (n_cells_ * arity > dense) compress(n_cells_);
    const std::uint16_t* codes = columns_.codes(v);
    for (std::size_t row = 0; row < columns_.n_rows(); ++row) {
      cell_of_row_[row] = cell_of_row_[row] * arity + codes[row];
    }
    n_cells_ *= arity;
  }
  if (n_cells_ > dense) compress(n_cells_);
}

// Renumbers the cells in order of first appearance, so that empty ones take no number.
void LocalScorer::compress(std::size_t bound) {
  if (bound > (std::size_t{1} << 22)) {
    relabel_.assign(cell_of_row_.begin(), cell_of_row_.end());
    std::sort(relabel_.begin(), relabel_.end());
    relabel_.erase(std::unique(relabel_.begin(), relabel_.end()), relabel_.end());
    for (auto& cell : cell_of_row_) {
      cell = static_cast<std::uint32_t>(std::lower_bound(relabel_.begin(), relabel_.end(), cell) -
                                        relabel_.begin());
    }
    n_cells_ = relabel_.size();
    return;
  }
  relabel_.assign(bound, unseen);
  std::uint32_t next = 0;
  for (auto& cell : cell_of_row_) {
    if (relabel_[cell] == unseen) relabel_[cell] = next++;
    cell = relabel_[cell];
  }
  n_cells_ = std::max<std::size_t>(next, 1);
}

}  // namespace twbn
