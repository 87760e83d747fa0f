// The logarithm of the gamma function for positive arguments.
#pragma once

#include <cmath>

namespace twbn {

/// What Stirling's series adds to (x − 1/2) ln x − x + ln(2π)/2, for x ≥ 10.
inline double stirling_series(double x) {
  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  return inverse *
         (1.0 / 12.0 -
          square * (1.0 / 360.0 -
                    square * (1.0 / 1260.0 -
                              square * (1.0 / 1680.0 -
                                        square * (1.0 / 1188.0 -
                                                  square * (691.0 / 360360.0 - square / 156.0))))));
}

/// ln Γ(x) for x > 0: Stirling's series after shifting x above 10. Relative error near 1e-15.
/// Written out because std::lgamma sets a global and differs between standard libraries.
inline double log_gamma(double x) {
  double product = 1.0;
  double shift = 0.0;
  while (x < 10.0) {
    product *= x;
    x += 1.0;
    if (product < 1e-280) {  // keep the product away from underflow for tiny x
      shift += std::log(product);
      product = 1.0;
    }
  }
  constexpr double half_log_two_pi = 0.918938533204672741780329736406;
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + stirling_series(x) - std::log(product) -
         shift;
}

/// ln(1 + x) − x for x ≥ 0, without the cancellation of small x.
inline double log1p_minus(double x) {
  if (x > 0.01) return std::log1p(x) - x;
  // −x²/2 + x³/3 − …; twelve terms leave less than 1e-16 of the first at x = 0.01.
  double sum = 0;
  for (int i = 13; i >= 2; --i) sum = (i % 2 == 0 ? -1.0 : 1.0) / i + x * sum;
  return x * x * sum;
}

/// ln Γ(x + n) − ln Γ(x) for x > 0, n ≥ 0. The logarithms themselves grow with x ln x, so for large
/// x their difference, which is near n ln x, would be lost.
inline double log_rising(double x, double n) {
  if (x < 10.0) return log_gamma(x + n) - log_gamma(x);
  // Stirling's formula at both ends, term by term.
  const double ratio = n / x;
  return x * log1p_minus(ratio) - 0.5 * std::log1p(ratio) + n * std::log(x + n) +
         (stirling_series(x + n) - stirling_series(x));
}

}  // namespace twbn
