#include "inference/bag_tree.h"

#include <algorithm>
#include <utility>

#include "inference/contraction.h"

namespace twbn {

namespace {

/// Entries of a product of tables that is always made; larger ones only if they take no more room
/// than this many times what is multiplied.
constexpr std::int64_t small_product = 65'536, most_growth = 4;
const double one = 1.0;

}  // namespace

BagTree::BagTree(const Factors& factors, std::vector<std::vector<std::int32_t>> bags,
                 std::span<const std::int32_t> home, std::span<const std::int32_t> codes)
    : factors_(factors), bags_(std::move(bags)), residents_(bags_.size()), tables_(bags_.size()) {
  for (std::int32_t v = 0; v < factors.n_variables(); ++v) {
    if (home[at(v)] < 0) {
      log_scalars_ += log_of(*table_of(v, {}, codes).values);
      continue;
    }
    const std::size_t b = at(home[at(v)]);
    residents_[b].push_back(v);
    tables_[b].push_back(table_of(v, bags_[b], codes));
  }
  for (std::size_t b = 0; b < bags_.size(); ++b) {
    if (tables_[b].size() > 1) merge(b);
    if (tables_[b].empty()) {
      tables_[b].push_back({&one, std::vector<std::int64_t>(bags_[b].size())});
    }
  }
}

BagTree::Table BagTree::table_of(std::int32_t v, std::span<const std::int32_t> bag,
                                 std::span<const std::int32_t> codes) const {
  Table table{factors_.table(v), std::vector<std::int64_t>(bag.size())};
  std::int64_t stride = factors_.table_size(v);
  const auto visit = [&](std::int32_t u) {
    stride /= factors_.n_states(u);
    if (!codes.empty() && codes[at(u)] >= 0) {
      table.values += stride * codes[at(u)];
    } else {
      table.strides[at(std::lower_bound(bag.begin(), bag.end(), u) - bag.begin())] = stride;
    }
  };
  for (const std::int32_t p : factors_.parents(v)) visit(p);
  visit(v);
  return table;
}

void BagTree::merge(std::size_t b) {
  std::int64_t size = 1, apart = 0;
  Table product{nullptr, std::vector<std::int64_t>(bags_[b].size())};
  Contraction<double> contraction;
  for (const std::int32_t v : residents_[b]) apart += factors_.table_size(v);
  for (const Table& table : tables_[b]) contraction.factors.push_back({table.values});
  std::vector<std::vector<std::int64_t>> strides;  // of the axes, innermost first
  for (std::size_t i = bags_[b].size(); i-- > 0;) {
    std::vector<std::int64_t> own;
    for (const Table& table : tables_[b]) own.push_back(table.strides[i]);
    if (std::all_of(own.begin(), own.end(), [](std::int64_t s) { return s == 0; })) continue;
    product.strides[i] = size;
    strides.push_back(std::move(own));
    size *= factors_.n_states(bags_[b][i]);
    if (size > std::max(small_product, most_growth * apart)) return;
  }
  for (std::size_t i = 0, axis = strides.size(); i < bags_[b].size(); ++i) {
    if (product.strides[i] == 0) continue;
    --axis;
    contraction.kept.push_back(
        {factors_.n_states(bags_[b][i]), product.strides[i], strides[axis].data()});
  }
  auto values = std::make_unique<std::vector<double>>(at(size));
  contraction.run<false>(values->data());
  if (contraction.underflow) return;
  product.values = values->data();
  merged_.push_back(std::move(values));
  tables_[b].assign(1, std::move(product));
}

}  // namespace twbn
