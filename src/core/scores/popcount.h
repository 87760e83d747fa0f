// Counting bits of intersections: the innermost loop of scoring.
#pragma once

#include <cstddef>
#include <cstdint>

namespace twbn {

/// out[c] = number of bits in `rows` AND column c, for n_columns columns of n_words words each.
/// n_words is a multiple of 8 (columns are padded with zeros).
void and_popcount(const std::uint64_t* rows, const std::uint64_t* columns, std::size_t n_columns,
                  std::size_t n_words, std::uint32_t* out);

}  // namespace twbn
