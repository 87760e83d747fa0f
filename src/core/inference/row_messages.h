// Messages of a junction tree for rows of evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "inference/bag_tree.h"
#include "inference/contraction.h"

namespace twbn {

/// One pass towards the root for each row. A bag is summed only over the variables that the row
/// leaves open, and a message that no evidence reaches is computed once for all rows.
///
/// The passes are made in doubles. A row in which a product of positive numbers becomes too small
/// for a double is passed again in wide numbers, so no row underflows.
///
/// Nothing changes after construction: several threads may collect at once.
class RowMessages {
 public:
  /// `order` has the bags, each after its parent (-1 for the first, the root). `target`, a variable
  /// of the root, is kept; -1: nothing is, only the probability matters. `tree` must outlive this.
  RowMessages(const BagTree& tree, std::span<const std::int32_t> order,
              std::span<const std::int32_t> parent, std::int32_t target);

  /// What one thread needs for its rows. Made by `scratch`, used for one row after the other.
  class Scratch;

  Scratch scratch() const;
  /// A row has a code for every variable, negative where it is not known. Writes the posterior of
  /// the target (its own cell is ignored) and returns the log-probability of the other cells;
  /// minus infinity, and zeros, when they are impossible.
  double collect(std::span<const std::int32_t> row, std::span<double> posterior,
                 Scratch& scratch) const;
  /// Entries that `collect` would go through for a row.
  double cost(std::span<const std::int32_t> row) const;

 private:
  struct Axis {
    std::int32_t variable;
    std::int32_t n_states;
    std::int64_t out;                   // stride in the bag's message, or -1 when summed out
    std::vector<std::int64_t> strides;  // in the bag's tables, then in the messages of its children
  };
  struct Bag {
    std::vector<Axis> axes;
    std::vector<const double*> tables;
    std::vector<std::int32_t> children;  // in the order of passes
    std::size_t message = 0;             // where its message begins
    std::size_t message_size = 1;
  };
  /// Messages of all bags, each divided by its largest entry, whose logarithms are added up.
  template <class Number>
  struct Messages {
    std::vector<Number> values;
    std::vector<double> log;
  };
  /// A pass in numbers of one kind.
  template <class Number>
  struct Pass {
    Messages<Number> messages;
    std::vector<char> touched;
    Contraction<Number> contraction;
  };

  template <class Number>
  Messages<Number> prior_messages(bool& underflow) const;
  const Messages<WideNumber>& wide_prior() const;
  template <class Number>
  Pass<Number> make_pass() const;
  bool is_touched(const Bag& bag, std::span<const std::int32_t> row,
                  const std::vector<char>& touched) const;
  template <class Number>
  double run(std::span<const std::int32_t> row, std::span<double> posterior,
             const Messages<Number>& prior, Pass<Number>& pass) const;
  template <class Number>
  void send(std::size_t b, std::span<const std::int32_t> row, const Messages<Number>* prior,
            Pass<Number>& pass) const;

  std::vector<Bag> bags_;
  std::size_t n_entries_ = 0;  // of all messages
  std::size_t n_variables_;
  std::int32_t target_;
  bool always_wide_ = false;
  Messages<double> prior_;
  mutable std::once_flag wide_made_;
  mutable Messages<WideNumber> wide_prior_;
};

class RowMessages::Scratch {
 private:
  friend class RowMessages;
  Pass<double> narrow;
  Pass<WideNumber> wide;  // filled when a row needs it
};

}  // namespace twbn
