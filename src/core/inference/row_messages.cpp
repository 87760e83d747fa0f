#include "inference/row_messages.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace twbn {

namespace {

/// Products of positive numbers below this have lost precision, or are about to.
constexpr double least_product = 1e-290;

double log_of(double value) { return std::log(value); }
double log_of(const WideNumber& value) { return value.is_zero() ? -HUGE_VAL : value.log(); }
bool is_zero(double value) { return value <= 0; }
bool is_zero(const WideNumber& value) { return value.is_zero(); }
}  // namespace

template <>
double RowMessages::sum_inside(const Bag& bag, Pass<double>& pass) const {
  const double* table = tables_.data() + bag.table;
  pass.inner_at = pass.at;
  double sum = 0;
  do {
    double product = table[pass.inner_at[0]];
    for (std::size_t c = 0; c < pass.from.size(); ++c) {
      product *= pass.from[c][pass.inner_at[c + 1]];
    }
    if (product < least_product && !pass.underflow) [[unlikely]] {
      bool positive = table[pass.inner_at[0]] > 0;
      for (std::size_t c = 0; c < pass.from.size(); ++c) {
        positive = positive && pass.from[c][pass.inner_at[c + 1]] > 0;
      }
      pass.underflow = positive;
    }
    sum += product;
  } while (advance(pass.inner, pass.inner_at));
  return sum;
}

template <>
WideNumber RowMessages::sum_inside(const Bag& bag, Pass<WideNumber>& pass) const {
  const double* table = tables_.data() + bag.table;
  const std::int32_t* exponents = exponents_.empty() ? nullptr : exponents_.data() + bag.table;
  pass.inner_at = pass.at;
  WideNumber sum;
  do {
    const std::int64_t entry = pass.inner_at[0];
    WideNumber product(table[entry], exponents ? exponents[entry] : 0);
    for (std::size_t c = 0; c < pass.from.size(); ++c) {
      product *= pass.from[c][pass.inner_at[c + 1]];
    }
    sum += product;
  } while (advance(pass.inner, pass.inner_at));
  return sum;
}

RowMessages::RowMessages(const BagTables& bags, std::int32_t target)
    : tables_(bags.tables.begin(), bags.tables.end()),
      exponents_(bags.exponents.begin(), bags.exponents.end()),
      bags_(bags.parent.size()),
      target_(target) {
  std::size_t table = 0;
  std::size_t message = 0;
  const auto members = [&](std::size_t b) {
    const auto first = static_cast<std::size_t>(bags.variable_offsets[b]);
    const auto last = static_cast<std::size_t>(bags.variable_offsets[b + 1]);
    return bags.variables.subspan(first, last - first);
  };
  for (std::size_t b = 0; b < bags_.size(); ++b) {
    Bag& bag = bags_[b];
    bag.table = table;
    bag.message = message;
    std::int64_t stride = 1;
    const auto inside = members(b);
    for (std::size_t i = inside.size(); i-- > 0;) {
      const std::int32_t v = inside[i];
      bag.axes.insert(bag.axes.begin(), Axis{v, bags.n_states[at(v)], -1, {stride}});
      stride *= bags.n_states[at(v)];
    }
    table += static_cast<std::size_t>(stride);
    std::int64_t out = 1;
    for (std::size_t i = bag.axes.size(); i-- > 0;) {
      Axis& axis = bag.axes[i];
      bool kept = axis.variable == target && b == 0;
      if (b > 0) {
        const auto above = members(at(bags.parent[b]));
        kept = std::find(above.begin(), above.end(), axis.variable) != above.end();
      }
      if (!kept) continue;
      axis.out = out;
      out *= axis.n_states;
    }
    bag.message_size = static_cast<std::size_t>(out);
    message += bag.message_size;
    if (b > 0) bags_[at(bags.parent[b])].children.push_back(static_cast<std::int32_t>(b));
  }
  for (Bag& bag : bags_) {
    for (Axis& axis : bag.axes) {
      for (const std::int32_t child : bag.children) {
        std::int64_t stride = 0;
        for (const Axis& other : bags_[at(child)].axes) {
          if (other.variable == axis.variable) stride = std::max<std::int64_t>(other.out, 0);
        }
        axis.strides.push_back(stride);
      }
    }
  }
  n_entries_ = message;
  bool underflow = !exponents_.empty();
  if (!underflow) prior_ = prior_messages<double>(underflow);
  always_wide_ = underflow;
}

template <class Number>
RowMessages::Messages<Number> RowMessages::prior_messages(bool& underflow) const {
  auto pass = make_pass<Number>();
  const std::vector<std::int32_t> nothing(highest_variable() + 1, -1);
  for (std::size_t b = bags_.size(); b-- > 0;) send<Number>(b, nothing, nullptr, pass);
  underflow = pass.underflow;
  return std::move(pass.messages);
}

std::size_t RowMessages::highest_variable() const {
  std::size_t highest = 0;
  for (const Bag& bag : bags_) {
    for (const Axis& axis : bag.axes) highest = std::max(highest, at(axis.variable));
  }
  return highest;
}

const RowMessages::Messages<WideNumber>& RowMessages::wide_prior() const {
  std::call_once(wide_made_, [this] {
    bool underflow = false;
    wide_prior_ = prior_messages<WideNumber>(underflow);
  });
  return wide_prior_;
}

template <class Number>
RowMessages::Pass<Number> RowMessages::make_pass() const {
  Pass<Number> pass;
  pass.messages.values.resize(n_entries_);
  pass.messages.log.resize(bags_.size());
  pass.touched.resize(bags_.size());
  return pass;
}

RowMessages::Scratch RowMessages::scratch() const {
  Scratch made;
  if (!always_wide_) made.narrow = make_pass<double>();
  return made;
}

double RowMessages::collect(std::span<const std::int32_t> row, std::span<double> posterior,
                            Scratch& scratch) const {
  if (!always_wide_) {
    scratch.narrow.underflow = false;
    const double log = run<double>(row, posterior, prior_, scratch.narrow);
    if (!scratch.narrow.underflow) return log;
  }
  if (scratch.wide.touched.empty()) scratch.wide = make_pass<WideNumber>();
  return run<WideNumber>(row, posterior, wide_prior(), scratch.wide);
}

template <class Number>
double RowMessages::run(std::span<const std::int32_t> row, std::span<double> posterior,
                        const Messages<Number>& prior, Pass<Number>& pass) const {
  for (std::size_t b = bags_.size(); b-- > 0;) {
    const Bag& bag = bags_[b];
    bool touched = false;
    for (const std::int32_t child : bag.children) touched = touched || pass.touched[at(child)];
    for (const Axis& axis : bag.axes) {
      touched = touched || (axis.out < 0 && row[at(axis.variable)] >= 0);
    }
    pass.touched[b] = touched;
    if (touched) {
      send(b, row, &prior, pass);
    } else {
      pass.messages.log[b] = prior.log[b];
    }
  }
  const Number* message = (pass.touched[0] ? pass.messages.values : prior.values).data();
  if (target_ < 0) return pass.messages.log[0];
  Number sum = 0;
  for (std::size_t i = 0; i < bags_[0].message_size; ++i) sum += message[i];
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    Number share = message[i];
    if (!is_zero(sum)) share /= sum;
    posterior[i] = static_cast<double>(share);
  }
  return pass.messages.log[0] + log_of(sum);
}

// The message of a bag: what is kept changes in the outer loop, what is summed out in the inner.
template <class Number>
void RowMessages::send(std::size_t b, std::span<const std::int32_t> row,
                       const Messages<Number>* prior, Pass<Number>& pass) const {
  const Bag& bag = bags_[b];
  const std::size_t n_tables = bag.children.size() + 1;
  pass.at.assign(n_tables + 1, 0);  // in the table, in the children's messages, in the message
  pass.outer.clear();
  pass.inner.clear();
  for (const Axis& axis : bag.axes) {
    const std::int32_t code = axis.variable == target_ ? -1 : row[at(axis.variable)];
    if (code >= 0) {
      for (std::size_t t = 0; t < n_tables; ++t) pass.at[t] += code * axis.strides[t];
      if (axis.out >= 0) pass.at[n_tables] += code * axis.out;
    } else if (axis.out >= 0) {
      pass.outer.push_back({&axis, 0});
    } else {
      pass.inner.push_back({&axis, 0});
    }
  }
  pass.from.clear();
  double log = 0;
  for (const std::int32_t child : bag.children) {
    const auto& source = pass.touched[at(child)] || !prior ? pass.messages.values : prior->values;
    pass.from.push_back(source.data() + bags_[at(child)].message);
    log += pass.messages.log[at(child)];
  }
  Number* message = pass.messages.values.data() + bag.message;
  Number largest = 0;
  pass.first = pass.at;
  do {
    const Number sum = sum_inside(bag, pass);
    message[pass.at[n_tables]] = sum;
    if (largest < sum) largest = sum;
  } while (advance(pass.outer, pass.at));
  pass.messages.log[b] = log + log_of(largest);
  if (is_zero(largest)) return;
  pass.at = pass.first;
  do {
    message[pass.at[n_tables]] /= largest;
  } while (advance(pass.outer, pass.at));
}

bool RowMessages::advance(std::vector<Odometer>& wheels, std::vector<std::int64_t>& at) {
  for (std::size_t i = wheels.size(); i-- > 0;) {
    auto& [axis, code] = wheels[i];
    const std::size_t n_tables = axis->strides.size();
    const std::int64_t out = std::max<std::int64_t>(axis->out, 0);
    if (++code < axis->n_states) {
      for (std::size_t t = 0; t < n_tables; ++t) at[t] += axis->strides[t];
      at[n_tables] += out;
      return true;
    }
    for (std::size_t t = 0; t < n_tables; ++t) at[t] -= (code - 1) * axis->strides[t];
    at[n_tables] -= (code - 1) * out;
    code = 0;
  }
  return false;
}

}  // namespace twbn
