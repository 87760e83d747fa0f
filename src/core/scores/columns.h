// The coded table as the kernels see it: column by column, and packed into bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twbn {

/// A complete table of small integer codes.
///
/// Columns of at most `max_packed_states` states also have one bitmap for each state but the
/// first; those bitmaps, of all variables in order, form one matrix of "bit columns". The bit
/// columns of variable v are first_bit_column(v) .. first_bit_column(v + 1) - 1. Where rows have
/// weights that are whole multiples of some unit, plane b holds the rows whose multiple has bit b,
/// and a count, in units, is the sum over the planes of 2^b times the number of rows in both.
class Columns {
 public:
  static constexpr int max_packed_states = 8;

  /// `codes` holds n_variables columns of n_rows codes; `weights` is empty or one per row.
  Columns(std::span<const std::int32_t> codes, std::span<const std::int32_t> arities,
          std::span<const double> weights);

  int n_variables() const { return static_cast<int>(arities_.size()); }
  std::size_t n_rows() const { return n_rows_; }
  int arity(int v) const { return arities_[static_cast<std::size_t>(v)]; }
  const std::vector<std::int32_t>& arities() const { return arities_; }
  int smallest_arity() const { return smallest_arity_; }

  bool weighted() const { return !weights_.empty(); }
  const std::vector<double>& weights() const { return weights_; }
  double total_weight() const { return total_weight_; }
  /// Every row weighs at least one, so every observed cell does.
  bool weights_at_least_one() const { return weights_at_least_one_; }

  const std::uint16_t* codes(int v) const {
    return codes_.data() + static_cast<std::size_t>(v) * n_rows_;
  }

  /// Counts are whole numbers of units: rows weigh one each, or as many units as planes can hold.
  bool whole_counts() const { return !weighted() || n_planes_ > 0; }
  /// The weight that counts are multiples of: 1 for whole weights, else 1/2 to 1/256.
  double unit() const { return 1.0 / per_unit_; }
  /// A count as a number of units, for a table of terms.
  std::size_t in_units(double count) const {
    return static_cast<std::size_t>(count * per_unit_ + 0.5);
  }

  std::size_t n_words() const { return n_words_; }
  bool packed(int v) const { return whole_counts() && arity(v) <= max_packed_states; }
  std::size_t first_bit_column(int v) const { return first_bit_column_[static_cast<std::size_t>(v)]; }
  std::size_t n_bit_columns() const { return first_bit_column_.back(); }
  const std::uint64_t* bit_column(std::size_t c) const { return bits_.data() + c * n_words_; }
  /// out[i] = units of the rows of a bitmap in bit column first + i, for i < n.
  void count(const std::uint64_t* rows, std::size_t first, std::size_t n, std::uint32_t* out) const;
  /// The units of the rows of a bitmap.
  std::uint32_t count_rows(const std::uint64_t* rows) const;

 private:
  std::size_t n_rows_;
  std::vector<std::int32_t> arities_;
  int smallest_arity_ = 1;
  std::vector<double> weights_;
  double total_weight_ = 0;
  bool weights_at_least_one_ = true;
  std::vector<std::uint16_t> codes_;
  std::size_t n_words_;
  std::vector<std::size_t> first_bit_column_;
  std::vector<std::uint64_t> bits_;
  static constexpr std::size_t max_planes = 16;
  static constexpr int max_denominator = 256;
  std::size_t n_planes_ = 0;
  double per_unit_ = 1;
  std::vector<std::uint64_t> planes_;       // n_planes × n_words
  std::vector<std::uint64_t> plane_bits_;   // for each bit column, its rows in each plane

  void make_planes();
};

}  // namespace twbn
