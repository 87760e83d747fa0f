// What each score adds up over the cells of a contingency table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace twbn {

enum class ScoreKind { bdeu, bic, aic, k2, loglik };

/// The score with this name; throws std::invalid_argument if there is none.
ScoreKind score_kind(std::string_view name);

/// Every score here has the form
///     local(i | P) = joint(P ∪ {i}) − parent(P, arity of i) − penalty(P, arity of i)
/// where joint and parent are sums over the observed cells of a contingency table. All but K2
/// have parent(P, r) = joint(P): one number for each *set* then serves all its members as child.
class Terms {
 public:
  /// Counts are multiples of `unit`, or any numbers where it is zero.
  Terms(ScoreKind kind, double ess, double total_weight, double unit);

  ScoreKind kind() const { return kind_; }
  bool parent_is_joint() const { return kind_ != ScoreKind::k2; }

  /// One cell of a table of `n_cells` cells (observed or not).
  double joint_cell(double count, double n_cells) const;
  /// One parent configuration of `n_cells`, for a child of `child_arity` states (K2 only differs).
  double parent_cell(double count, double n_cells, int child_arity) const;
  double penalty(double n_configurations, int child_arity) const {
    return penalty_weight_ * n_configurations * (child_arity - 1);
  }
  bool penalised() const { return penalty_weight_ > 0; }

  double unit() const { return unit_; }
  /// joint_cell (child_arity = 0) or parent_cell for the counts 0, 1, … units as an array, or nullptr
  /// when counts have no unit or the arrays would take more than `max_table_bytes` in all.
  const double* table(double n_cells, int child_arity) const;

  static constexpr std::size_t max_table_bytes = std::size_t{128} << 20;

 private:
  ScoreKind kind_;
  double ess_;
  double total_weight_;
  double unit_;
  double penalty_weight_ = 0;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<std::uint64_t, std::unique_ptr<std::vector<double>>> tables_;
};

}  // namespace twbn
