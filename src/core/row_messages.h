// Messages of a junction tree for rows of evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twbn {

/// The bags of a junction tree, parents before children, with their tables one after the other.
/// Axes are the bag's variables, ascending; the last changes fastest.
struct BagTables {
  std::span<const std::int32_t> n_states;          // of each variable
  std::span<const std::int32_t> parent;            // of each bag; -1 for the first, the root
  std::span<const std::int64_t> variable_offsets;  // of each bag in `variables`
  std::span<const std::int32_t> variables;
  std::span<const double> tables;
};

/// One pass towards the root for each row. A bag is summed only over the variables that the row
/// leaves open, and a message that no evidence reaches is computed once for all rows.
class RowMessages {
 public:
  /// `target`, a variable of the root bag, is kept; -1: nothing is, only the probability matters.
  RowMessages(const BagTables& bags, std::int32_t target);

  /// A row has a code for every variable, negative where it is not known. Writes the posterior of
  /// the target (its own cell is ignored) and returns the log-probability of the other cells;
  /// minus infinity, and zeros, when they are impossible.
  double collect(std::span<const std::int32_t> row, std::span<double> posterior);

 private:
  struct Axis {
    std::int32_t variable;
    std::int32_t n_states;
    std::int64_t out;                  // stride in the bag's message, or -1 when summed out
    std::vector<std::int64_t> strides;  // in the bag's table, then in the message of each child
  };
  struct Bag {
    std::vector<Axis> axes;
    std::vector<std::int32_t> children;
    std::size_t table = 0;    // where its table begins
    std::size_t message = 0;  // where its message begins
    std::size_t message_size = 1;
  };
  struct Odometer {
    const Axis* axis;
    std::int32_t code;
  };

  void send(std::size_t b, std::span<const std::int32_t> row);
  double sum_inside(const Bag& bag);
  static bool advance(std::vector<Odometer>& wheels, std::vector<std::int64_t>& at);

  std::vector<double> tables_;
  std::vector<Bag> bags_;
  std::int32_t target_;
  // Messages and their logarithms: without evidence, and of the row at hand.
  std::vector<double> prior_, messages_;
  std::vector<double> prior_log_, log_;
  std::vector<char> touched_;
  std::vector<const double*> from_;  // the messages of the children of the bag at hand
  std::vector<Odometer> outer_, inner_;
  std::vector<std::int64_t> at_, inner_at_;
};

}  // namespace twbn
