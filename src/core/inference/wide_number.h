// Numbers whose exponent has a range of its own.
#pragma once

#include <cmath>
#include <cstdint>

namespace twbn {

/// A non-negative number mantissa · 2^exponent with the mantissa in [0.5, 1), or zero. Products of
/// any length neither underflow nor overflow; sums keep the precision of a double.
class WideNumber {
 public:
  WideNumber() = default;
  WideNumber(double value, std::int64_t exponent = 0) {  // NOLINT: converts on purpose
    int shift = 0;
    mantissa_ = std::frexp(value, &shift);
    exponent_ = mantissa_ > 0 ? exponent + shift : 0;
  }

  bool is_zero() const { return mantissa_ <= 0; }
  double log() const {
    constexpr double log_two = 0.693147180559945309417232121458;
    return std::log(mantissa_) + static_cast<double>(exponent_) * log_two;
  }
  /// As a double: zero where it is too small for one.
  explicit operator double() const {
    if (exponent_ < -2000) return 0.0;
    return std::ldexp(mantissa_, exponent_ > 2000 ? 2000 : static_cast<int>(exponent_));
  }

  WideNumber& operator*=(const WideNumber& other) {
    return *this = WideNumber(mantissa_ * other.mantissa_, exponent_ + other.exponent_);
  }
  WideNumber& operator/=(const WideNumber& other) {
    return *this = WideNumber(mantissa_ / other.mantissa_, exponent_ - other.exponent_);
  }
  WideNumber& operator+=(const WideNumber& other) {
    if (other.is_zero()) return *this;
    if (is_zero() || other.exponent_ > exponent_ + 100) return *this = other;
    if (exponent_ > other.exponent_ + 100) return *this;
    const int shift = static_cast<int>(other.exponent_ - exponent_);
    return *this = WideNumber(mantissa_ + std::ldexp(other.mantissa_, shift), exponent_);
  }
  bool operator<(const WideNumber& other) const {
    if (is_zero() || other.is_zero()) return mantissa_ < other.mantissa_;
    return exponent_ != other.exponent_ ? exponent_ < other.exponent_ : mantissa_ < other.mantissa_;
  }

 private:
  double mantissa_ = 0;
  std::int64_t exponent_ = 0;
};

}  // namespace twbn
