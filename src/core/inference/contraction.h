// The one loop of inference: a product of tables, summed or maximised into another table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "inference/wide_number.h"

namespace twbn {

/// Products of positive numbers below this have lost precision, or are about to.
inline constexpr double least_product = 1e-290;

inline bool is_zero(double value) { return value <= 0; }
inline bool is_zero(const WideNumber& value) { return value.is_zero(); }
/// Whether dividing by a number may lose what is small but matters.
inline bool is_huge(double value) { return value > 1e10; }
inline bool is_huge(const WideNumber&) { return false; }
/// Whether products with a number may be too small.
inline bool is_small(double value) { return value < 1e-60; }
inline bool is_small(const WideNumber&) { return false; }
inline double log_of(double value) { return value > 0 ? std::log(value) : minus_infinity; }
inline double log_of(const WideNumber& value) {
  return value.is_zero() ? minus_infinity : value.log();
}

/// The numbers of one factor: a table of a network, which always holds doubles, or a message.
template <class Number>
struct Source;

template <>
struct Source<double> {
  const double* values = nullptr;

  static Source table(const double* first) { return {first}; }
  static Source message(const double* first) { return {first}; }
  double operator[](std::int64_t i) const { return values[i]; }
  Source operator+(std::int64_t offset) const { return {values + offset}; }
};

template <>
struct Source<WideNumber> {
  const double* from_table = nullptr;
  const WideNumber* from_message = nullptr;

  static Source table(const double* first) { return {first, nullptr}; }
  static Source message(const WideNumber* first) { return {nullptr, first}; }
  WideNumber operator[](std::int64_t i) const {
    return from_table ? WideNumber(from_table[i]) : from_message[i];
  }
  Source operator+(std::int64_t offset) const {
    return from_table ? table(from_table + offset) : message(from_message + offset);
  }
};

/// A variable over which a product runs: its stride in every factor, and in the result; `out` is -1
/// where it is summed out.
struct LoopAxis {
  std::int32_t n_states;
  std::int64_t out;
  const std::int64_t* strides;
};

/// Multiplies factors and sums out (or maximises over) some of their variables. Holds the scratch
/// space of one thread.
template <class Number>
class Contraction {
 public:
  std::vector<Source<Number>> factors;
  std::vector<LoopAxis> kept, summed;
  /// Set when a product of positive numbers was too small for a double.
  bool underflow = false;

  void clear() {
    factors.clear();
    kept.clear();
    summed.clear();
  }

  /// Write the result and return its largest entry. The cost is the product of all numbers of
  /// states, times the number of factors.
  template <bool maximise>
  Number run(Number* result);

  /// Divide the entries that `run` wrote.
  void divide(Number* result, const Number& by);

 private:
  void start(std::size_t n_outer);
  bool advance(const std::vector<LoopAxis>& axes, std::vector<std::int32_t>& codes);
  LoopAxis take_line(bool& is_kept);
  bool is_lost(const LoopAxis* line, std::int64_t step) const;
  void watch(double product, const LoopAxis* line, std::int64_t step) {
    if (product < least_product && !underflow) [[unlikely]] underflow = is_lost(line, step);
  }
  void watch(const WideNumber&, const LoopAxis*, std::int64_t) {}
  template <bool maximise>
  static void take(Number& into, const Number& value) {
    if constexpr (maximise) {
      if (into < value) into = value;
    } else {
      into += value;
    }
  }
  template <bool maximise, bool is_kept, std::size_t n_factors>
  void go_along(const LoopAxis& line, Number* sums);
  template <bool maximise, bool is_kept>
  Number run_along(const LoopAxis& line, Number* result);
  template <bool maximise>
  Number run_in_place(Number* result);

  std::vector<std::int64_t> at_, nowhere_;  // where each factor is; strides of a line of length one
  std::vector<std::int32_t> outer_codes_, inner_codes_;
  std::vector<LoopAxis> all_;
  std::vector<Number> sums_;  // along a line
  std::int64_t out_ = 0;
};

template <class Number>
void Contraction<Number>::start(std::size_t n_outer) {
  at_.assign(factors.size(), 0);
  outer_codes_.assign(n_outer, 0);
  inner_codes_.assign(summed.size(), 0);
  out_ = 0;
}

// Moves all factors (and, along kept variables, the result) to the next combination of codes; false
// after the last.
template <class Number>
bool Contraction<Number>::advance(const std::vector<LoopAxis>& axes,
                                  std::vector<std::int32_t>& codes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    const LoopAxis& axis = axes[i];
    const bool more = ++codes[i] < axis.n_states;
    const std::int64_t steps = more ? 1 : 1 - axis.n_states;
    for (std::size_t t = 0; t < at_.size(); ++t) at_[t] += steps * axis.strides[t];
    if (axis.out > 0) out_ += steps * axis.out;
    if (more) return true;
    codes[i] = 0;
  }
  return false;
}

// The variable with the most states makes the innermost loop: the others are paid for per line.
template <class Number>
LoopAxis Contraction<Number>::take_line(bool& is_kept) {
  nowhere_.assign(factors.size(), 0);
  LoopAxis line{1, 0, nowhere_.data()};
  std::vector<LoopAxis>* from = nullptr;
  std::size_t place = 0;
  for (auto* axes : {&summed, &kept}) {
    for (std::size_t i = 0; i < axes->size(); ++i) {
      if ((*axes)[i].n_states <= line.n_states) continue;
      line = (*axes)[i];
      from = axes;
      place = i;
    }
  }
  is_kept = from == &kept;
  if (from != nullptr) from->erase(from->begin() + static_cast<std::ptrdiff_t>(place));
  return line;
}

// Whether a product is tiny although no factor of it is zero.
template <class Number>
bool Contraction<Number>::is_lost(const LoopAxis* line, std::int64_t step) const {
  for (std::size_t t = 0; t < factors.size(); ++t) {
    if (is_zero(factors[t][at_[t] + step * line->strides[t]])) return false;
  }
  return true;
}

// Adds the products along a line, to one sum or, where the variable is kept, to one for each state.
template <class Number>
template <bool maximise, bool is_kept, std::size_t n_factors>
void Contraction<Number>::go_along(const LoopAxis& line, Number* sums) {
  const std::size_t n = n_factors ? n_factors : factors.size();
  Number sum = is_kept ? Number(0) : sums[0];
  for (std::int64_t step = 0; step < line.n_states; ++step) {
    Number product = factors[0][at_[0] + step * line.strides[0]];
    for (std::size_t t = 1; t < n; ++t) product *= factors[t][at_[t] + step * line.strides[t]];
    watch(product, &line, step);
    if constexpr (is_kept) {
      take<maximise>(sums[step], product);
    } else {
      take<maximise>(sum, product);
    }
  }
  if constexpr (!is_kept) sums[0] = sum;
}

template <class Number>
template <bool maximise, bool is_kept>
Number Contraction<Number>::run_along(const LoopAxis& line, Number* result) {
  start(kept.size());
  const std::int64_t n_sums = is_kept ? line.n_states : 1;
  Number largest = 0, single = 0;
  if constexpr (is_kept) sums_.resize(at(n_sums));
  Number* sums = is_kept ? sums_.data() : &single;
  do {
    std::fill(sums, sums + n_sums, Number(0));
    do {
      switch (factors.size()) {
        case 1: go_along<maximise, is_kept, 1>(line, sums); break;
        case 2: go_along<maximise, is_kept, 2>(line, sums); break;
        case 3: go_along<maximise, is_kept, 3>(line, sums); break;
        case 4: go_along<maximise, is_kept, 4>(line, sums); break;
        default: go_along<maximise, is_kept, 0>(line, sums);
      }
    } while (advance(summed, inner_codes_));
    for (std::int64_t s = 0; s < n_sums; ++s) {
      result[out_ + (is_kept ? s * line.out : 0)] = sums[s];
      if (largest < sums[s]) largest = sums[s];
    }
  } while (advance(kept, outer_codes_));
  return largest;
}

// Sums a single table in the order in which it lies in memory: it may be far larger than the result.
template <class Number>
template <bool maximise>
Number Contraction<Number>::run_in_place(Number* result) {
  start(kept.size());
  do {
    result[out_] = Number(0);
  } while (advance(kept, outer_codes_));
  all_.assign(kept.begin(), kept.end());
  for (const LoopAxis& axis : summed) all_.push_back({axis.n_states, 0, axis.strides});
  std::sort(all_.begin(), all_.end(), [](const LoopAxis& a, const LoopAxis& b) {
    return a.strides[0] > b.strides[0];
  });
  const LoopAxis line = all_.back();
  all_.pop_back();
  start(all_.size());
  do {
    const Source<Number> from = factors[0] + at_[0];
    if (line.out > 0) {
      for (std::int64_t s = 0; s < line.n_states; ++s) {
        take<maximise>(result[out_ + s * line.out], from[s * line.strides[0]]);
      }
    } else {
      Number sum = 0;
      for (std::int64_t s = 0; s < line.n_states; ++s) {
        take<maximise>(sum, from[s * line.strides[0]]);
      }
      take<maximise>(result[out_], sum);
    }
  } while (advance(all_, outer_codes_));
  Number largest = 0;
  start(kept.size());
  at_.clear();
  do {
    if (largest < result[out_]) largest = result[out_];
  } while (advance(kept, outer_codes_));
  return largest;
}

template <class Number>
template <bool maximise>
Number Contraction<Number>::run(Number* result) {
  if (factors.size() == 1 && !summed.empty()) return run_in_place<maximise>(result);
  bool is_kept = false;
  const LoopAxis line = take_line(is_kept);
  const Number largest = is_kept ? run_along<maximise, true>(line, result)
                                 : run_along<maximise, false>(line, result);
  if (is_kept) kept.push_back(line);
  return largest;
}

template <class Number>
void Contraction<Number>::divide(Number* result, const Number& by) {
  start(kept.size());
  at_.clear();  // only the result moves
  do {
    result[out_] /= by;
  } while (advance(kept, outer_codes_));
}

}  // namespace twbn
