#include "scores/columns.h"

#include <algorithm>

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
}

}  // namespace twbn
