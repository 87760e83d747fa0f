#include "inference/row_messages.h"

#include <algorithm>
#include <utility>

namespace twbn {

RowMessages::RowMessages(const BagTree& tree, std::span<const std::int32_t> order,
                         std::span<const std::int32_t> parent, std::int32_t target)
    : bags_(order.size()), n_variables_(at(tree.factors().n_variables())), target_(target) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = i;
  std::size_t message = 0;
  for (std::size_t i = 0; i < bags_.size(); ++i) {
    Bag& bag = bags_[i];
    const auto b = at(order[i]);
    const auto inside = tree.bag(b);
    for (const BagTree::Table& table : tree.tables(b)) bag.tables.push_back(table.values);
    std::span<const std::int32_t> above;
    if (i > 0) above = tree.bag(at(parent[b]));
    std::int64_t out = 1;
    for (std::size_t a = inside.size(); a-- > 0;) {
      const std::int32_t v = inside[a];
      Axis axis{v, tree.factors().n_states(v), -1, {}};
      for (const BagTree::Table& table : tree.tables(b)) axis.strides.push_back(table.strides[a]);
      const bool kept =
          i > 0 ? std::binary_search(above.begin(), above.end(), v) : v == target;
      if (kept) {
        axis.out = out;
        out *= axis.n_states;
      }
      bag.axes.insert(bag.axes.begin(), std::move(axis));
    }
    bag.message = message;
    bag.message_size = at(out);
    message += bag.message_size;
    if (i > 0) bags_[place[at(parent[b])]].children.push_back(static_cast<std::int32_t>(i));
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
  prior_ = prior_messages<double>(always_wide_);
}

template <class Number>
RowMessages::Messages<Number> RowMessages::prior_messages(bool& underflow) const {
  auto pass = make_pass<Number>();
  const std::vector<std::int32_t> nothing(n_variables_, -1);
  for (std::size_t b = bags_.size(); b-- > 0;) send<Number>(b, nothing, nullptr, pass);
  underflow = pass.contraction.underflow;
  return std::move(pass.messages);
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
    scratch.narrow.contraction.underflow = false;
    const double log = run<double>(row, posterior, prior_, scratch.narrow);
    if (!scratch.narrow.contraction.underflow) return log;
  }
  if (scratch.wide.touched.empty()) scratch.wide = make_pass<WideNumber>();
  return run<WideNumber>(row, posterior, wide_prior(), scratch.wide);
}

bool RowMessages::is_touched(const Bag& bag, std::span<const std::int32_t> row,
                             const std::vector<char>& touched) const {
  for (const std::int32_t child : bag.children) {
    if (touched[at(child)]) return true;
  }
  return std::any_of(bag.axes.begin(), bag.axes.end(), [&](const Axis& axis) {
    return axis.out < 0 && row[at(axis.variable)] >= 0;
  });
}

double RowMessages::cost(std::span<const std::int32_t> row) const {
  std::vector<char> touched(bags_.size());
  double sum = 0;
  for (std::size_t b = bags_.size(); b-- > 0;) {
    touched[b] = is_touched(bags_[b], row, touched);
    if (!touched[b]) continue;
    double entries = 1;
    for (const Axis& axis : bags_[b].axes) {
      if (axis.variable == target_ || row[at(axis.variable)] < 0) entries *= axis.n_states;
    }
    sum += entries;
  }
  return sum;
}

template <class Number>
double RowMessages::run(std::span<const std::int32_t> row, std::span<double> posterior,
                        const Messages<Number>& prior, Pass<Number>& pass) const {
  for (std::size_t b = bags_.size(); b-- > 0;) {
    pass.touched[b] = is_touched(bags_[b], row, pass.touched);
    if (pass.touched[b]) {
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

// The message of a bag. Where a variable of the message is known, only entries with its code are
// written; nothing else is read of it.
template <class Number>
void RowMessages::send(std::size_t b, std::span<const std::int32_t> row,
                       const Messages<Number>* prior, Pass<Number>& pass) const {
  const Bag& bag = bags_[b];
  Contraction<Number>& contraction = pass.contraction;
  contraction.clear();
  for (const double* table : bag.tables) {
    contraction.factors.push_back(Source<Number>::table(table));
  }
  double log = 0;
  for (const std::int32_t child : bag.children) {
    const auto& source = pass.touched[at(child)] || !prior ? pass.messages.values : prior->values;
    contraction.factors.push_back(
        Source<Number>::message(source.data() + bags_[at(child)].message));
    log += pass.messages.log[at(child)];
  }
  Number* message = pass.messages.values.data() + bag.message;
  bool whole = true;  // all of the message is written
  for (const Axis& axis : bag.axes) {
    const std::int32_t code = axis.variable == target_ ? -1 : row[at(axis.variable)];
    if (code >= 0) {
      for (std::size_t t = 0; t < contraction.factors.size(); ++t) {
        contraction.factors[t] = contraction.factors[t] + code * axis.strides[t];
      }
      if (axis.out >= 0) {
        message += code * axis.out;
        whole = false;
      }
    } else {
      (axis.out >= 0 ? contraction.kept : contraction.summed)
          .push_back({axis.n_states, axis.out, axis.strides.data()});
    }
  }
  const Number largest = contraction.template run<false>(message);
  pass.messages.log[b] = log + log_of(largest);
  if (is_zero(largest)) return;
  if (whole) {
    for (std::size_t i = 0; i < bag.message_size; ++i) message[i] /= largest;
  } else {
    contraction.divide(message, largest);
  }
}

}  // namespace twbn
