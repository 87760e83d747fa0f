#include "scores/terms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <string>

#include "scores/log_gamma.h"

namespace twbn {

namespace {
constexpr double least_alpha = 1e-307;  // less would be zero for tables of many cells
}

ScoreKind score_kind(std::string_view name) {
  if (name == "bdeu") return ScoreKind::bdeu;
  if (name == "bic") return ScoreKind::bic;
  if (name == "aic") return ScoreKind::aic;
  if (name == "k2") return ScoreKind::k2;
  if (name == "loglik") return ScoreKind::loglik;
  throw std::invalid_argument("unknown score " + std::string(name));
}

Terms::Terms(ScoreKind kind, double ess, double total_weight, double unit)
    : kind_(kind), ess_(ess), total_weight_(total_weight), unit_(unit) {
  if (kind == ScoreKind::bic) penalty_weight_ = 0.5 * std::log(total_weight);
  if (kind == ScoreKind::aic) penalty_weight_ = 1.0;
}

double Terms::joint_cell(double count, double n_cells) const {
  if (count <= 0) return 0.0;
  switch (kind_) {
    case ScoreKind::bdeu: {
      const double alpha = std::max(ess_ / n_cells, least_alpha);
      return log_rising(alpha, count);
    }
    case ScoreKind::k2:
      return log_gamma(count + 1.0);
    case ScoreKind::bic:
    case ScoreKind::aic:
    case ScoreKind::loglik:
      return count * std::log(count);
  }
  return 0.0;
}

double Terms::parent_cell(double count, double n_cells, int child_arity) const {
  if (kind_ != ScoreKind::k2) return joint_cell(count, n_cells);
  if (count <= 0) return 0.0;
  return log_gamma(count + child_arity) - log_gamma(child_arity);
}

const double* Terms::table(double n_cells, int child_arity) const {
  if (unit_ == 0) return nullptr;
  // Only BDeu looks at the number of cells, and only K2 at the child's arity.
  const double cells = kind_ == ScoreKind::bdeu ? n_cells : 1.0;
  const int arity = kind_ == ScoreKind::k2 ? child_arity : 0;
  const std::uint64_t key =
      kind_ == ScoreKind::bdeu ? std::bit_cast<std::uint64_t>(cells) : static_cast<std::uint64_t>(arity);
  {
    const std::shared_lock lock(mutex_);
    const auto found = tables_.find(key);
    if (found != tables_.end()) return found->second->data();
  }
  const std::unique_lock lock(mutex_);
  auto& slot = tables_[key];
  if (slot) return slot->data();
  const auto size = static_cast<std::size_t>(std::llround(total_weight_ / unit_)) + 1;
  if (tables_.size() * size * sizeof(double) > max_table_bytes) {
    tables_.erase(key);
    return nullptr;
  }
  auto table = std::make_unique<std::vector<double>>(size);
  for (std::size_t units = 0; units < size; ++units) {
    const double count = unit_ * static_cast<double>(units);
    (*table)[units] = arity == 0 ? joint_cell(count, cells) : parent_cell(count, cells, arity);
  }
  slot = std::move(table);
  return slot->data();
}

}  // namespace twbn
