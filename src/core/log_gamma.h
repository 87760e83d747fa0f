// The logarithm of the gamma function for positive arguments.
#pragma once

#include <cmath>

namespace twbn {

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
  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  const double series =
      inverse *
      (1.0 / 12.0 -
       square * (1.0 / 360.0 -
                 square * (1.0 / 1260.0 -
                           square * (1.0 / 1680.0 -
                                     square * (1.0 / 1188.0 -
                                               square * (691.0 / 360360.0 - square / 156.0))))));
  constexpr double half_log_two_pi = 0.918938533204672741780329736406;
  return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - std::log(product) - shift;
}

}  // namespace twbn
