// The tables of a network, where Python holds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/numbers.h"

namespace twbn {

/// The conditional tables of a network. The axes of a table are the variable's parents, ascending,
/// and the variable itself; the last changes fastest. The numbers are not copied: they must outlive
/// this. Nothing changes after construction, so several threads may read at once.
class Factors {
 public:
  Factors(std::vector<std::int32_t> n_states, std::vector<std::vector<std::int32_t>> parents,
          std::vector<const double*> tables);

  std::int32_t n_variables() const { return static_cast<std::int32_t>(n_states_.size()); }
  std::int32_t n_states(std::int32_t v) const { return n_states_[at(v)]; }
  std::span<const std::int32_t> parents(std::int32_t v) const { return parents_[at(v)]; }
  std::span<const std::int32_t> children(std::int32_t v) const { return children_[at(v)]; }
  const double* table(std::int32_t v) const { return tables_[at(v)]; }
  std::int64_t table_size(std::int32_t v) const;
  /// Whether a table has an entry of zero.
  bool has_zero(std::int32_t v) const { return has_zero_[at(v)]; }

 private:
  std::vector<std::int32_t> n_states_;
  std::vector<std::vector<std::int32_t>> parents_, children_;
  std::vector<const double*> tables_;
  std::vector<char> has_zero_;
};

/// What is asked of a network: the distribution of some variables given others; without targets, the
/// probability of what is given.
struct Question {
  std::vector<std::int32_t> targets;
  std::vector<char> known;  // for every variable: 1 where its code is given
  std::vector<char> soft;   // 1 where a likelihood of its states is given
  std::vector<char> fixed;  // 1 where it is conditioned on although it is not given
  bool whole = false;       // all tables matter, as they do where others are maximised over
};

/// The variables whose tables have a part in the answer, ascending: the ancestors of the targets and
/// of what is given, less what evidence separates from the targets (Bayes ball; Shachter 1998).
/// O(variables + arcs).
std::vector<std::int32_t> relevant_variables(const Factors& factors, const Question& question);

}  // namespace twbn
