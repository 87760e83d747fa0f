#include "inference/calibration.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace twbn {

Calibration::Calibration(const BagTree& tree, std::span<const std::int32_t> order,
                         std::span<const std::int32_t> parent)
    : tree_(tree), bags_(order.size()) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = i;
  for (std::size_t i = 0; i < bags_.size(); ++i) {
    Bag& bag = bags_[i];
    bag.number = at(order[i]);
    const auto inside = tree.bag(bag.number);
    std::span<const std::int32_t> above;
    if (i > 0) above = tree.bag(at(parent[bag.number]));
    bag.out.assign(inside.size(), -1);
    bag.whole.resize(inside.size());
    std::int64_t out = 1, whole = 1;
    for (std::size_t a = inside.size(); a-- > 0;) {
      const std::int32_t n_states = tree.factors().n_states(inside[a]);
      bag.whole[a] = whole;
      whole *= n_states;
      if (!std::binary_search(above.begin(), above.end(), inside[a])) continue;
      bag.out[a] = out;
      out *= n_states;
    }
    bag.message_size = at(out);
    if (i > 0) {
      const std::size_t p = place[at(parent[bag.number])];
      bags_[p].children.push_back(static_cast<std::int32_t>(i));
    }
  }
  for (Bag& bag : bags_) {
    const auto inside = tree.bag(bag.number);
    for (const std::int32_t c : bag.children) {
      const Bag& child = bags_[at(c)];
      const auto below = tree.bag(child.number);
      std::vector<std::int64_t> strides(inside.size());
      for (std::size_t a = 0; a < inside.size(); ++a) {
        const auto found = std::lower_bound(below.begin(), below.end(), inside[a]);
        if (found == below.end() || *found != inside[a]) continue;
        strides[a] = child.out[at(found - below.begin())];
      }
      bag.from_child.push_back(std::move(strides));
    }
  }
  std::size_t offset = 0;
  for (std::int32_t v = 0; v < tree.factors().n_variables(); ++v) {
    offsets_.push_back(offset);
    offset += at(tree.factors().n_states(v));
  }
  choose_sources();
}

// Each variable is told of by the smallest table that holds it.
void Calibration::choose_sources() {
  struct Place {
    double size = infinity;
    std::size_t bag = 0;
    bool above = false;
  };
  std::vector<Place> best(at(tree_.factors().n_variables()));
  for (std::size_t i = 0; i < bags_.size(); ++i) {
    const Bag& bag = bags_[i];
    const auto inside = tree_.bag(bag.number);
    double whole = 1;
    for (const std::int32_t v : inside) whole *= tree_.factors().n_states(v);
    for (std::size_t a = 0; a < inside.size(); ++a) {
      Place& place = best[at(inside[a])];
      const bool above = bag.out[a] >= 0;
      const double size = above ? static_cast<double>(bag.message_size) : whole;
      if (size < place.size) place = {size, i, above};
    }
  }
  for (std::size_t v = 0; v < best.size(); ++v) {
    if (best[v].size == infinity) continue;  // it is in no bag, as it is known
    Bag& bag = bags_[best[v].bag];
    (best[v].above ? bag.told_above : bag.told_here).push_back(static_cast<std::int32_t>(v));
  }
}

double Calibration::cost(std::span<const std::int32_t> codes) const {
  double sum = 0;
  for (const Bag& bag : bags_) {
    double entries = 1;
    for (const std::int32_t v : tree_.bag(bag.number)) {
      if (codes[at(v)] < 0) entries *= tree_.factors().n_states(v);
    }
    sum += entries * static_cast<double>(2 + bag.children.size() + bag.told_here.size());
  }
  return sum;
}

// The messages of one pass up and one down, in numbers of one kind. What is known is sliced, so
// entries of other codes are neither written nor read.
template <class Number>
class Calibration::Pass {
 public:
  Pass(const Calibration& owner, const Evidence& evidence, std::span<double> posteriors)
      : owner_(owner),
        evidence_(evidence),
        posteriors_(posteriors),
        up_(owner.bags_.size()),
        down_(owner.bags_.size()) {}

  bool underflow() const { return contraction_.underflow; }
  double send_up(std::size_t i);
  void send_down(std::size_t i);

 private:
  void gather(std::size_t i);
  void add_axes(std::span<const std::int32_t> variables, std::span<const std::int64_t> out,
                Number*& result);
  void form_product(std::size_t i);
  void sum_to_child(std::size_t i, std::size_t child);
  void tell(std::int32_t v, std::span<const std::int32_t> variables, const Number* table,
            std::span<const std::int64_t> strides);
  void write(std::int32_t v);

  const Calibration& owner_;
  const Evidence& evidence_;
  std::span<double> posteriors_;
  std::vector<std::vector<Number>> up_, down_;
  std::vector<Number> product_, marginal_;
  std::vector<std::int64_t> out_;
  Contraction<Number> contraction_;
  std::vector<std::vector<std::int64_t>> strides_;  // of each variable at hand, for all factors
};

// The factors of a bag: its tables, likelihoods, the messages of its children, and of its parent.
template <class Number>
void Calibration::Pass<Number>::gather(std::size_t i) {
  const Bag& bag = owner_.bags_[i];
  const auto inside = owner_.tree_.bag(bag.number);
  contraction_.clear();
  strides_.resize(std::max(strides_.size(), inside.size()));
  for (std::size_t a = 0; a < inside.size(); ++a) strides_[a].clear();
  const auto add = [&](Source<Number> source, const auto& stride_of) {
    contraction_.factors.push_back(source);
    for (std::size_t a = 0; a < inside.size(); ++a) strides_[a].push_back(stride_of(a));
  };
  for (const BagTree::Table& table : owner_.tree_.tables(bag.number)) {
    add(Source<Number>::table(table.values), [&](std::size_t a) { return table.strides[a]; });
  }
  for (const std::int32_t v : owner_.tree_.residents(bag.number)) {
    const double* likelihood = evidence_.likelihoods[at(v)];
    if (likelihood == nullptr) continue;
    add(Source<Number>::table(likelihood),
        [&](std::size_t a) { return std::int64_t{inside[a] == v}; });
  }
  for (std::size_t c = 0; c < bag.children.size(); ++c) {
    add(Source<Number>::message(up_[at(bag.children[c])].data()),
        [&](std::size_t a) { return bag.from_child[c][a]; });
  }
  if (!down_[i].empty()) {
    add(Source<Number>::message(down_[i].data()),
        [&](std::size_t a) { return std::max<std::int64_t>(bag.out[a], 0); });
  }
}

// The loops over some variables; known ones are sliced.
template <class Number>
void Calibration::Pass<Number>::add_axes(std::span<const std::int32_t> variables,
                                         std::span<const std::int64_t> out, Number*& result) {
  for (std::size_t a = 0; a < variables.size(); ++a) {
    const std::int32_t code = evidence_.codes[at(variables[a])];
    if (code >= 0) {
      for (std::size_t t = 0; t < contraction_.factors.size(); ++t) {
        contraction_.factors[t] = contraction_.factors[t] + code * strides_[a][t];
      }
      if (out[a] >= 0) result += code * out[a];
    } else {
      (out[a] >= 0 ? contraction_.kept : contraction_.summed)
          .push_back({owner_.tree_.factors().n_states(variables[a]), out[a], strides_[a].data()});
    }
  }
}

template <class Number>
double Calibration::Pass<Number>::send_up(std::size_t i) {
  const Bag& bag = owner_.bags_[i];
  gather(i);
  up_[i].resize(bag.message_size);
  Number* result = up_[i].data();
  add_axes(owner_.tree_.bag(bag.number), bag.out, result);
  const Number largest = contraction_.template run<false>(result);
  if (is_huge(largest)) contraction_.underflow = true;
  if (!is_zero(largest)) contraction_.divide(result, largest);
  return log_of(largest);
}

// Forms the product of a bag with all its messages, unless one sum of it is all that is wanted.
template <class Number>
void Calibration::Pass<Number>::form_product(std::size_t i) {
  const Bag& bag = owner_.bags_[i];
  const auto inside = owner_.tree_.bag(bag.number);
  std::size_t size = 1;
  for (const std::int32_t v : inside) size *= at(owner_.tree_.factors().n_states(v));
  product_.resize(size);
  gather(i);
  Number* result = product_.data();
  add_axes(inside, bag.whole, result);
  const Number largest = contraction_.template run<false>(result);
  if (is_huge(largest)) contraction_.underflow = true;
  if (is_small(largest) && !is_zero(largest)) contraction_.divide(result, largest);
}

template <class Number>
void Calibration::Pass<Number>::send_down(std::size_t i) {
  const Bag& bag = owner_.bags_[i];
  const auto inside = owner_.tree_.bag(bag.number);
  const std::size_t n_sums = bag.children.size() + bag.told_here.size();
  if (n_sums == 1 && bag.children.empty()) {
    const std::int32_t v = bag.told_here[0];
    gather(i);
    out_.assign(inside.size(), -1);
    for (std::size_t a = 0; a < inside.size(); ++a) out_[a] = inside[a] == v ? 1 : -1;
    marginal_.assign(at(owner_.tree_.factors().n_states(v)), Number(0));
    Number* result = marginal_.data();
    add_axes(inside, out_, result);
    contraction_.template run<false>(result);
    write(v);
  } else if (n_sums > 0) {
    form_product(i);
    for (std::size_t c = 0; c < bag.children.size(); ++c) sum_to_child(i, c);
    for (const std::int32_t v : bag.told_here) tell(v, inside, product_.data(), bag.whole);
  }
  std::vector<Number>().swap(down_[i]);
}

// Sums the product to the table between a bag and its child, from which posteriors are told. Then
// the child's own message is divided out; where that is zero, so is the product.
template <class Number>
void Calibration::Pass<Number>::sum_to_child(std::size_t i, std::size_t child) {
  const Bag& bag = owner_.bags_[i];
  const auto inside = owner_.tree_.bag(bag.number);
  const auto c = at(bag.children[child]);
  const Bag& below = owner_.bags_[c];
  const auto members = owner_.tree_.bag(below.number);
  contraction_.clear();
  contraction_.factors.push_back(Source<Number>::message(product_.data()));
  strides_.resize(std::max(strides_.size(), inside.size()));
  out_.assign(inside.size(), -1);
  for (std::size_t a = 0; a < inside.size(); ++a) {
    strides_[a].assign(1, bag.whole[a]);
    if (std::binary_search(members.begin(), members.end(), inside[a])) {
      out_[a] = bag.from_child[child][a];
    }
  }
  std::vector<Number>& between = down_[c];
  between.assign(below.message_size, Number(0));
  Number* result = between.data();
  add_axes(inside, out_, result);
  contraction_.template run<false>(result);
  for (const std::int32_t v : below.told_above) tell(v, members, between.data(), below.out);
  Number largest = 0;
  for (std::size_t e = 0; e < between.size(); ++e) {
    if (is_zero(between[e])) continue;
    between[e] /= up_[c][e];  // which may be tiny, but as it is in the product, so is that
    if (largest < between[e]) largest = between[e];
  }
  if (is_zero(largest)) return;
  for (Number& value : between) value /= largest;
}

// Sums a table over some variables (those of stride -1 are not in it) to one of them.
template <class Number>
void Calibration::Pass<Number>::tell(std::int32_t v, std::span<const std::int32_t> variables,
                                     const Number* table, std::span<const std::int64_t> strides) {
  std::vector<std::int32_t> members;
  std::vector<std::int64_t> out;
  strides_.resize(std::max(strides_.size(), variables.size()));
  for (std::size_t a = 0; a < variables.size(); ++a) {
    if (strides[a] < 0) continue;
    strides_[members.size()].assign(1, strides[a]);
    members.push_back(variables[a]);
    out.push_back(variables[a] == v ? 1 : -1);
  }
  contraction_.clear();
  contraction_.factors.push_back(Source<Number>::message(table));
  marginal_.assign(at(owner_.tree_.factors().n_states(v)), Number(0));
  Number* result = marginal_.data();
  add_axes(members, out, result);
  contraction_.template run<false>(result);
  write(v);
}

// Writes the posterior of a variable; of a known one, its entry for the code is all there is.
template <class Number>
void Calibration::Pass<Number>::write(std::int32_t v) {
  double* posterior = posteriors_.data() + owner_.offsets_[at(v)];
  Number sum = 0;
  for (const Number& value : marginal_) sum += value;
  for (std::size_t s = 0; s < marginal_.size(); ++s) {
    if (!is_zero(sum)) marginal_[s] /= sum;
    posterior[s] = static_cast<double>(marginal_[s]);
  }
}

template <class Number>
double Calibration::pass(const Evidence& evidence, std::span<double> posteriors, bool& underflow,
                         const Control& control) const {
  Pass<Number> pass(*this, evidence, posteriors);
  double log = 0;
  for (std::size_t i = bags_.size(); i-- > 0;) {
    if (control.expired()) return std::numeric_limits<double>::quiet_NaN();
    log += pass.send_up(i);
    if (log == minus_infinity) break;
    if (pass.underflow()) break;
  }
  for (std::size_t i = 0; i < bags_.size() && log > minus_infinity && !pass.underflow(); ++i) {
    if (control.expired()) return std::numeric_limits<double>::quiet_NaN();
    pass.send_down(i);
  }
  underflow = pass.underflow();
  return log;
}

double Calibration::marginals(const Evidence& evidence, std::span<double> posteriors,
                              const Control& control) const {
  bool underflow = false;
  std::fill(posteriors.begin(), posteriors.end(), 0.0);
  const double log = pass<double>(evidence, posteriors, underflow, control);
  if (!underflow) return log;
  std::fill(posteriors.begin(), posteriors.end(), 0.0);
  return pass<WideNumber>(evidence, posteriors, underflow, control);
}

}  // namespace twbn
