#include "scores/columns.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "scores/popcount.h"

namespace twbn {

Columns::Columns(std::span<const std::int32_t> codes, std::span<const std::int32_t> arities,
                 std::span<const double> weights)
    : n_rows_(arities.empty() ? 0 : codes.size() / arities.size()),
      arities_(arities.begin(), arities.end()),
      weights_(weights.begin(), weights.end()),
      n_words_((n_rows_ + 511) / 512 * 8) {
  smallest_arity_ = arities_.empty() ? 1 : *std::min_element(arities_.begin(), arities_.end());
  total_weight_ = static_cast<double>(n_rows_);
  if (weighted()) {
    total_weight_ = 0;
    for (const double weight : weights_) {
      total_weight_ += weight;
      weights_at_least_one_ = weights_at_least_one_ && weight >= 1.0;
    }
  }
  make_planes();
  codes_.resize(codes.size());
  std::transform(codes.begin(), codes.end(), codes_.begin(),
                 [](std::int32_t code) { return static_cast<std::uint16_t>(code); });

  first_bit_column_.assign(arities_.size() + 1, 0);
  for (int v = 0; v < n_variables(); ++v) {
    const std::size_t n = packed(v) ? static_cast<std::size_t>(std::max(arity(v) - 1, 0)) : 0;
    first_bit_column_[static_cast<std::size_t>(v) + 1] = first_bit_column(v) + n;
  }
  bits_.assign(n_bit_columns() * n_words_, 0);
  for (int v = 0; v < n_variables(); ++v) {
    if (!packed(v)) continue;
    const std::uint16_t* column = this->codes(v);
    for (std::size_t row = 0; row < n_rows_; ++row) {
      if (column[row] == 0) continue;
      const std::size_t c = first_bit_column(v) + column[row] - 1U;
      bits_[c * n_words_ + row / 64] |= std::uint64_t{1} << (row % 64);
    }
  }
  plane_bits_.resize(n_bit_columns() * n_planes_ * n_words_);
  for (std::size_t i = 0; i < plane_bits_.size(); ++i) {
    const std::size_t word = i % n_words_, plane = i / n_words_ % n_planes_;
    const std::size_t column = i / (n_words_ * n_planes_);
    plane_bits_[i] = bits_[column * n_words_ + word] & planes_[plane * n_words_ + word];
  }
}

namespace {

// Whether weights are whole multiples of a unit, but for rounding.
bool are_multiples(std::span<const double> weights, double per_unit) {
  return std::all_of(weights.begin(), weights.end(), [&](double weight) {
    const double units = weight * per_unit;
    return std::abs(units - std::round(units)) <= 1e-12 * std::max(1.0, units);
  });
}

}  // namespace

// None if the weights have no common unit, or are too large in units.
void Columns::make_planes() {
  if (!weighted()) return;
  const double least = *std::min_element(weights_.begin(), weights_.end());
  if (least < 0) return;
  int denominator = 1;
  while (denominator <= max_denominator && !are_multiples(weights_, denominator)) ++denominator;
  if (denominator > max_denominator) return;
  if (total_weight_ * denominator >= std::ldexp(1.0, 31)) return;
  const double most = *std::max_element(weights_.begin(), weights_.end());
  const auto most_units = static_cast<std::uint64_t>(std::llround(most * denominator));
  const auto n = static_cast<std::size_t>(std::bit_width(most_units));
  if (n == 0 || n > max_planes) return;
  n_planes_ = n;
  per_unit_ = denominator;
  planes_.assign(n * n_words_, 0);
  for (std::size_t row = 0; row < n_rows_; ++row) {
    const auto units = static_cast<std::uint64_t>(std::llround(weights_[row] * denominator));
    for (std::size_t plane = 0; plane < n; ++plane) {
      planes_[plane * n_words_ + row / 64] |= (units >> plane & 1) << (row % 64);
    }
  }
}

void Columns::count(const std::uint64_t* rows, std::size_t first, std::size_t n,
                    std::uint32_t* out) const {
  if (n_planes_ == 0) return and_popcount(rows, bit_column(first), n, n_words_, out);
  std::uint32_t by_plane[max_planes];
  for (std::size_t i = 0; i < n; ++i) {
    and_popcount(rows, plane_bits_.data() + (first + i) * n_planes_ * n_words_, n_planes_, n_words_,
                 by_plane);
    out[i] = 0;
    for (std::size_t plane = 0; plane < n_planes_; ++plane) out[i] += by_plane[plane] << plane;
  }
}

std::uint32_t Columns::count_rows(const std::uint64_t* rows) const {
  std::uint32_t total = 0;
  if (n_planes_ == 0) {
    and_popcount(rows, rows, 1, n_words_, &total);
    return total;
  }
  std::uint32_t by_plane[max_planes];
  and_popcount(rows, planes_.data(), n_planes_, n_words_, by_plane);
  for (std::size_t plane = 0; plane < n_planes_; ++plane) total += by_plane[plane] << plane;
  return total;
}

}  // namespace twbn
