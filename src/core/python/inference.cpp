// Inference: elimination for single questions, passes over junction trees for marginals and rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "inference/adapted_tree.h"
#include "inference/bag_tree.h"
#include "inference/calibration.h"
#include "inference/elimination.h"
#include "inference/factors.h"
#include "inference/row_elimination.h"
#include "inference/row_messages.h"
#include "inference/support.h"
#include "inference/weighted_order.h"
#include "python/arrays.h"
#include "python/module.h"
#include "python/watch.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// Rows that are worth listening for Ctrl-C.
constexpr std::size_t many_rows = 1000;

using Likelihoods = std::vector<std::pair<std::int32_t, Array1<double>>>;

// The numbers stay where they are: the arrays are kept as long as the factors.
struct HeldFactors {
  std::vector<Array1<double>> arrays;
  Factors factors;
};

Factors factors_of(std::vector<std::int32_t> n_states, std::vector<Integers> parents,
                   const std::vector<Array1<double>>& tables) {
  std::vector<const double*> first;
  for (const auto& table : tables) first.push_back(table.data());
  return Factors(std::move(n_states), std::move(parents), std::move(first));
}

Question question_of(const Factors& factors, Integers targets, const Integers& known,
                     const Integers& soft, const Integers& fixed) {
  const auto n = at(factors.n_variables());
  Question question;
  question.targets = std::move(targets);
  question.known.resize(n);
  question.soft.resize(n);
  question.fixed.resize(n);
  for (const std::int32_t v : known) question.known[at(v)] = 1;
  for (const std::int32_t v : soft) question.soft[at(v)] = 1;
  for (const std::int32_t v : fixed) question.fixed[at(v)] = 1;
  return question;
}

std::vector<const double*> pointers(std::size_t n_variables, const Likelihoods& likelihoods) {
  std::vector<const double*> result(n_variables);
  for (const auto& [v, values] : likelihoods) result[at(v)] = values.data();
  return result;
}

[[noreturn]] void raise(PyObject* kind) {
  PyErr_SetNone(kind);
  throw nb::python_error();
}

// Runs a kernel that may be stopped by Ctrl-C or by the clock: then it raises.
template <class Kernel>
auto run_to_the_end(std::optional<double> time_limit, Kernel kernel) {
  Control control;
  control.set_time_limit(time_limit);
  auto [result, interrupted] = run_watched(control, kernel);
  if (interrupted) raise(PyExc_KeyboardInterrupt);
  if (control.expired()) raise(PyExc_TimeoutError);
  return std::move(result);
}

// The same where there are many entries; few are done before anyone presses Ctrl-C.
template <class Kernel>
double run_if_long(double n_entries, Kernel kernel) {
  if (n_entries < 1e6) {
    const nb::gil_scoped_release release;
    return kernel(Control());
  }
  return run_to_the_end(std::nullopt, [&](Control& control) { return kernel(control); });
}

void bind_elimination(nb::module_& m) {
  nb::class_<HeldFactors>(m, "Factors")
      .def(
          "__init__",
          [](HeldFactors* self, std::vector<std::int32_t> n_states, std::vector<Integers> parents,
             std::vector<Array1<double>> tables) {
            Factors factors = factors_of(std::move(n_states), std::move(parents), tables);
            new (self) HeldFactors{std::move(tables), std::move(factors)};
          },
          "n_states"_a, "parents"_a, "tables"_a)
      .def(
          "has_zero", [](const HeldFactors& self, std::int32_t v) { return self.factors.has_zero(v); },
          "variable"_a);
  nb::class_<EliminationPlan>(m, "EliminationPlan")
      .def(
          "__init__",
          [](EliminationPlan* self, const HeldFactors& held, Integers targets,
             const Integers& known, const Integers& soft, const Integers& fixed, bool whole,
             double seconds) {
            Question question = question_of(held.factors, std::move(targets), known, soft, fixed);
            question.whole = whole;
            const nb::gil_scoped_release release;
            new (self) EliminationPlan(held.factors, question, seconds, Control());
          },
          nb::keep_alive<1, 2>(), "factors"_a, "targets"_a, "known"_a, "soft"_a, "fixed"_a,
          "whole"_a, "seconds"_a)
      .def_prop_ro("relevant", &EliminationPlan::relevant)
      .def_prop_ro("wide_variables", &EliminationPlan::wide_variables)
      .def_prop_ro("width", [](const EliminationPlan& self) { return self.cost().width; })
      .def_prop_ro("n_entries", [](const EliminationPlan& self) { return self.cost().n_entries; })
      .def_prop_ro("largest", [](const EliminationPlan& self) { return self.cost().largest; })
      .def_prop_ro("peak", [](const EliminationPlan& self) { return self.cost().peak; })
      .def(
          "run",
          [](const EliminationPlan& self, Array1<std::int32_t> codes,
             const Likelihoods& likelihoods, bool maximise, bool watched,
             std::optional<double> time_limit) {
            const auto soft = pointers(codes.size(), likelihoods);
            std::vector<double> answer(self.answer_size());
            const Evidence evidence{view(codes), soft};
            double log = 0;
            if (watched) {
              log = run_to_the_end(time_limit, [&](Control& control) {
                return self.run(evidence, maximise, answer, control);
              });
            } else {
              const nb::gil_scoped_release release;
              log = self.run(evidence, maximise, answer, Control());
            }
            return nb::make_tuple(to_numpy(std::move(answer)), log);
          },
          "codes"_a, "likelihoods"_a, "maximise"_a, "watched"_a, "time_limit"_a.none());
  m.def(
      "is_possible",
      [](const HeldFactors& held, Array1<std::int32_t> codes, const Likelihoods& likelihoods,
         const Integers& answered, std::int64_t max_trials) -> std::optional<bool> {
        const auto soft = pointers(codes.size(), likelihoods);
        const nb::gil_scoped_release release;
        const Possible found =
            is_possible(held.factors, {view(codes), soft}, answered, max_trials);
        if (found == Possible::unknown) return std::nullopt;
        return found == Possible::yes;
      },
      "factors"_a, "codes"_a, "likelihoods"_a, "answered"_a, "max_trials"_a);
  m.def(
      "implied_codes",
      [](const HeldFactors& held, Array1<std::int32_t> codes, const Likelihoods& likelihoods) {
        const auto soft = pointers(codes.size(), likelihoods);
        return to_numpy(implied_codes(held.factors, {view(codes), soft}));
      },
      "factors"_a, "codes"_a, "likelihoods"_a);
  m.def(
      "best_order",
      [](std::int32_t n, Array2<std::int32_t> edges, std::vector<double> n_states,
         std::uint64_t seed, double seconds) {
        const nb::gil_scoped_release release;
        Adjacency graph(at(n));
        for (std::size_t e = 0; e < edges.shape(0); ++e) {
          const std::int32_t a = edges.data()[2 * e], b = edges.data()[2 * e + 1];
          graph[at(a)].push_back(b);
          graph[at(b)].push_back(a);
        }
        for (auto& around : graph) std::sort(around.begin(), around.end());
        const std::vector<char> last(at(n));
        return best_order(graph, n_states, last, seed, seconds, Control()).order;
      },
      "n"_a, "edges"_a, "n_states"_a, "seed"_a, "seconds"_a);
}

void bind_trees(nb::module_& m) {
  nb::class_<BagTree>(m, "BagTree")
      .def(
          "__init__",
          [](BagTree* self, const HeldFactors& held, std::vector<Integers> bags,
             Array1<std::int32_t> home) {
            const nb::gil_scoped_release release;
            new (self) BagTree(held.factors, std::move(bags), view(home));
          },
          nb::keep_alive<1, 2>(), "factors"_a, "bags"_a, "home"_a);
  nb::class_<Calibration>(m, "Calibration")
      .def(
          "__init__",
          [](Calibration* self, const BagTree& tree, Array1<std::int32_t> order,
             Array1<std::int32_t> parent) {
            new (self) Calibration(tree, view(order), view(parent));
          },
          nb::keep_alive<1, 2>(), "tree"_a, "order"_a, "parent"_a)
      .def(
          "marginals",
          [](const Calibration& self, Array1<std::int32_t> codes, const Likelihoods& likelihoods,
             std::size_t n_posteriors) {
            const auto soft = pointers(codes.size(), likelihoods);
            std::vector<double> posteriors(n_posteriors);
            const Evidence evidence{view(codes), soft};
            const double log = run_if_long(self.cost(evidence.codes), [&](const Control& control) {
              return self.marginals(evidence, posteriors, control);
            });
            return nb::make_tuple(to_numpy(std::move(posteriors)), log);
          },
          "codes"_a, "likelihoods"_a, "n_posteriors"_a)
      .def(
          "cost",
          [](const Calibration& self, Array1<std::int32_t> codes) {
            return self.cost(view(codes));
          },
          "codes"_a);
  nb::class_<TreeShape>(m, "TreeShape")
      .def_prop_ro("n_entries", [](const TreeShape& self) { return self.n_entries; });
  m.def(
      "tree_shape",
      [](const HeldFactors& held, Array1<std::int32_t> codes, double seconds) {
        const nb::gil_scoped_release release;
        return tree_shape(held.factors, view(codes), seconds, Control());
      },
      "factors"_a, "codes"_a, "seconds"_a);
  m.def(
      "adapted_marginals",
      [](const HeldFactors& held, const TreeShape& shape, Array1<std::int32_t> codes,
         const Likelihoods& likelihoods, std::size_t n_posteriors) {
        const auto soft = pointers(codes.size(), likelihoods);
        std::vector<double> posteriors(n_posteriors);
        const Evidence evidence{view(codes), soft};
        const double log = run_if_long(shape.n_entries, [&](const Control& control) {
          return adapted_marginals(held.factors, shape, evidence, posteriors, control);
        });
        return nb::make_tuple(to_numpy(std::move(posteriors)), log);
      },
      "factors"_a, "shape"_a, "codes"_a, "likelihoods"_a, "n_posteriors"_a);
}

// Rows answered by `collect(row, posterior)`, one after the other; Ctrl-C ends many.
template <class Collect>
nb::tuple answer_rows(const Array2<std::int32_t>& rows, std::size_t n_states, Collect collect) {
  const std::size_t n = rows.shape(0);
  const std::size_t width = rows.shape(1);
  std::vector<double> posteriors(n * n_states);
  std::vector<double> logs(n);
  const auto answer = [&](const Control& control) {
    for (std::size_t i = 0; i < n && !control.expired(); ++i) {
      logs[i] = collect(std::span(rows.data() + i * width, width),
                        std::span(posteriors.data() + i * n_states, n_states));
    }
    return true;
  };
  if (n < many_rows) {
    const nb::gil_scoped_release release;
    answer(Control());
  } else {
    run_to_the_end(std::nullopt, [&](Control& control) { return answer(control); });
  }
  return nb::make_tuple(to_numpy(std::move(posteriors)), to_numpy(std::move(logs)));
}

template <class Cost>
double total_cost(const Array2<std::int32_t>& rows, Cost cost) {
  const nb::gil_scoped_release release;
  double sum = 0;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    sum += cost(std::span(rows.data() + i * rows.shape(1), rows.shape(1)));
  }
  return sum;
}

void bind_rows(nb::module_& m) {
  nb::class_<RowMessages>(m, "RowMessages")
      .def(
          "__init__",
          [](RowMessages* self, const BagTree& tree, Array1<std::int32_t> order,
             Array1<std::int32_t> parent, std::int32_t target) {
            const nb::gil_scoped_release release;
            new (self) RowMessages(tree, view(order), view(parent), target);
          },
          nb::keep_alive<1, 2>(), "tree"_a, "order"_a, "parent"_a, "target"_a)
      .def(
          "collect",
          [](const RowMessages& self, Array2<std::int32_t> rows, std::size_t n_states) {
            auto scratch = self.scratch();
            return answer_rows(rows, n_states, [&](auto row, auto posterior) {
              return self.collect(row, posterior, scratch);
            });
          },
          "rows"_a, "n_states"_a)
      .def(
          "cost",
          [](const RowMessages& self, Array2<std::int32_t> rows) {
            return total_cost(rows, [&](auto row) { return self.cost(row); });
          },
          "rows"_a);
  m.def(
      "eliminate_rows",
      [](const HeldFactors& held, std::int32_t target, Array2<std::int32_t> rows,
         std::size_t n_states, double max_entries) {
        RowElimination elimination(held.factors, target, max_entries);
        const Control control;
        return answer_rows(rows, n_states, [&](auto row, auto posterior) {
          return elimination.collect(row, posterior, control);
        });
      },
      "factors"_a, "target"_a, "rows"_a, "n_states"_a, "max_entries"_a);
  m.def(
      "elimination_cost",
      [](const HeldFactors& held, std::int32_t target, Array2<std::int32_t> rows) {
        RowElimination elimination(held.factors, target, infinity);
        return total_cost(rows, [&](auto row) { return elimination.cost(row); });
      },
      "factors"_a, "target"_a, "rows"_a);
}

}  // namespace

void bind_inference(nb::module_& m) {
  bind_elimination(m);
  bind_trees(m);
  bind_rows(m);
}

}  // namespace twbn::python
