#include "row_messages.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace twbn {

namespace {
std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }
}  // namespace

RowMessages::RowMessages(const BagTables& bags, std::int32_t target)
    : tables_(bags.tables.begin(), bags.tables.end()),
      bags_(bags.parent.size()),
      target_(target),
      log_(bags.parent.size()),
      touched_(bags.parent.size()) {
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
  messages_.resize(message);
  const std::vector<std::int32_t> nothing(bags.n_states.size(), -1);
  for (std::size_t b = bags_.size(); b-- > 0;) send(b, nothing);
  prior_ = messages_;
  prior_log_ = log_;
  std::fill(touched_.begin(), touched_.end(), 0);
}

double RowMessages::collect(std::span<const std::int32_t> row, std::span<double> posterior) {
  for (std::size_t b = bags_.size(); b-- > 0;) {
    const Bag& bag = bags_[b];
    bool touched = false;
    for (const std::int32_t child : bag.children) touched = touched || touched_[at(child)];
    for (const Axis& axis : bag.axes) {
      touched = touched || (axis.out < 0 && row[at(axis.variable)] >= 0);
    }
    touched_[b] = touched;
    if (touched) {
      send(b, row);
    } else {
      log_[b] = prior_log_[b];
    }
  }
  const double* message = (touched_[0] ? messages_ : prior_).data();
  if (target_ < 0) return log_[0];
  double sum = 0;
  for (std::size_t i = 0; i < bags_[0].message_size; ++i) sum += message[i];
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    posterior[i] = sum > 0 ? message[i] / sum : 0;
  }
  return log_[0] + std::log(sum);
}

// The message of a bag: what is kept changes in the outer loop, what is summed out in the inner.
void RowMessages::send(std::size_t b, std::span<const std::int32_t> row) {
  const Bag& bag = bags_[b];
  const std::size_t n_tables = bag.children.size() + 1;
  at_.assign(n_tables + 1, 0);  // in the table, in the children's messages, in the message
  outer_.clear();
  inner_.clear();
  for (const Axis& axis : bag.axes) {
    const std::int32_t code = axis.variable == target_ ? -1 : row[at(axis.variable)];
    if (code >= 0) {
      for (std::size_t t = 0; t < n_tables; ++t) at_[t] += code * axis.strides[t];
      if (axis.out >= 0) at_[n_tables] += code * axis.out;
    } else if (axis.out >= 0) {
      outer_.push_back({&axis, 0});
    } else {
      inner_.push_back({&axis, 0});
    }
  }
  from_.clear();
  double log = 0;
  for (const std::int32_t child : bag.children) {
    const auto& source = touched_[at(child)] ? messages_ : (prior_.empty() ? messages_ : prior_);
    from_.push_back(source.data() + bags_[at(child)].message);
    log += log_[at(child)];
  }
  double* message = messages_.data() + bag.message;
  double largest = 0;
  const std::vector<std::int64_t> first = at_;
  do {
    const double sum = sum_inside(bag);
    message[at_[n_tables]] = sum;
    largest = std::max(largest, sum);
  } while (advance(outer_, at_));
  log_[b] = log + std::log(largest);
  if (largest <= 0) return;
  at_ = first;
  do {
    message[at_[n_tables]] /= largest;
  } while (advance(outer_, at_));
}

double RowMessages::sum_inside(const Bag& bag) {
  const double* table = tables_.data() + bag.table;
  inner_at_ = at_;
  double sum = 0;
  do {
    double product = table[inner_at_[0]];
    for (std::size_t c = 0; c < from_.size(); ++c) product *= from_[c][inner_at_[c + 1]];
    sum += product;
  } while (advance(inner_, inner_at_));
  return sum;
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
