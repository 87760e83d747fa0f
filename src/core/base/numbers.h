// Small numbers that every kernel uses.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace twbn {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double minus_infinity = -infinity;

/// A vertex, variable or position as an index into a container.
template <std::integral Integer>
constexpr std::size_t at(Integer i) {
  return static_cast<std::size_t>(i);
}

/// A set of one member, as a mask.
constexpr std::uint32_t bit(int member) { return std::uint32_t{1} << member; }

}  // namespace twbn
