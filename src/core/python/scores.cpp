// Scores: tables in, parent sets and look-ups out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>

#include "python/arrays.h"
#include "python/module.h"
#include "python/watch.h"
#include "scores/all_sets.h"
#include "scores/best_first.h"
#include "scores/columns.h"
#include "scores/lazy_scores.h"
#include "scores/single_parents.h"
#include "scores/score_index.h"
#include "scores/score_lookup.h"
#include "scores/terms.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

/// A coded table with the terms of one score.
struct ScoredData {
  ScoredData(Array2<std::int32_t> codes, Array1<std::int32_t> arities,
             std::optional<Array1<double>> weights, const std::string& score, double ess)
      : columns({codes.data(), codes.size()}, view(arities),
                weights ? view(*weights) : std::span<const double>()),
        terms(score_kind(score), ess, columns.total_weight(),
              columns.whole_counts() ? columns.unit() : 0.0) {}
  Columns columns;
  Terms terms;
};

ParentSetRules make_rules(Array1<std::int32_t> max_parents, Array2<std::uint8_t> allowed,
                                std::vector<std::vector<std::int32_t>> required, bool prune) {
  ParentSetRules rules;
  rules.max_parents.assign(max_parents.data(), max_parents.data() + max_parents.size());
  rules.allowed.assign(allowed.data(), allowed.data() + allowed.size());
  rules.required = std::move(required);
  rules.prune = prune;
  return rules;
}

nb::dict scored_sets_dict(ScoredSets&& sets, bool interrupted) {
  nb::dict result;
  result["variable_offsets"] = to_numpy(std::move(sets.variable_offsets));
  result["scores"] = to_numpy(std::move(sets.scores));
  result["set_offsets"] = to_numpy(std::move(sets.set_offsets));
  result["parents"] = to_numpy(std::move(sets.parents));
  result["complete_size"] = sets.complete_size;
  result["n_scored"] = sets.n_scored;
  result["n_skipped"] = sets.n_skipped;
  result["timed_out"] = sets.timed_out;
  result["out_of_memory"] = sets.out_of_memory;
  result["interrupted"] = interrupted;
  return result;
}

/// Scores that a Python function gives: slow, but every search takes them.
class CallableLookup final : public ScoreLookup {
 public:
  CallableLookup(nb::callable function, int n_variables, int max_parents)
      : function_(std::move(function)), n_variables_(n_variables), max_parents_(max_parents) {}
  int n_variables() const override { return n_variables_; }
  int max_parents() const override { return max_parents_; }
  double score(int child, std::span<const std::int32_t> parents) override {
    nb::gil_scoped_acquire acquire;
    return nb::cast<double>(
        function_(child, std::vector<std::int32_t>(parents.begin(), parents.end())));
  }

 private:
  nb::callable function_;
  int n_variables_;
  int max_parents_;
};

void bind_tables(nb::module_& m) {
  nb::class_<ScoredData>(m, "ScoredData")
      .def(nb::init<Array2<std::int32_t>, Array1<std::int32_t>, std::optional<Array1<double>>,
                    const std::string&, double>(),
           "codes"_a, "arities"_a, "weights"_a.none(), "score"_a, "ess"_a);

  m.def(
      "score_parent_sets",
      [](const ScoredData& data, Array1<std::int32_t> max_parents, Array2<std::uint8_t> allowed,
         std::vector<std::vector<std::int32_t>> required, bool prune,
         std::optional<std::int64_t> budget, int n_jobs, std::int64_t max_result_bytes,
         std::optional<double> time_limit, nb::object on_progress) {
        const auto rules = make_rules(max_parents, allowed, std::move(required), prune);
        Control control;
        control.set_time_limit(time_limit);
        auto [sets, interrupted] = run_watched(control, progress_report(control, on_progress), [&](Control& shared) {
          return budget ? explore_best_first(data.columns, data.terms, rules, *budget, n_jobs,
                                                   shared)
                        : score_all_sets(data.columns, data.terms, rules, n_jobs,
                                               max_result_bytes, shared);
        });
        return scored_sets_dict(std::move(sets), interrupted);
      },
      "data"_a, "max_parents"_a, "allowed"_a, "required"_a, "prune"_a, "budget"_a.none(),
      "n_jobs"_a, "max_result_bytes"_a, "time_limit"_a.none(), "on_progress"_a.none());

  m.def(
      "best_single_parents",
      [](const ScoredData& data, Array1<std::int32_t> max_parents, Array2<std::uint8_t> allowed,
         int most, int n_jobs, std::optional<double> time_limit) {
        const auto rules = make_rules(max_parents, allowed, {}, false);
        Control control;
        control.set_time_limit(time_limit);
        auto [best, interrupted] = run_watched(control, [&](Control& shared) {
          return best_single_parents(data.columns, data.terms, rules,
                                     static_cast<std::size_t>(most), n_jobs, shared);
        });
        return nb::make_tuple(to_numpy(std::move(best.offsets)), to_numpy(std::move(best.parents)),
                              interrupted);
      },
      "data"_a, "max_parents"_a, "allowed"_a, "most"_a, "n_jobs"_a, "time_limit"_a.none());

  nb::class_<ScoreIndex>(m, "ScoreIndex")
      .def(
          "__init__",
          [](ScoreIndex* self, Array1<std::int64_t> variable_offsets, Array1<double> scores,
             Array1<std::int64_t> set_offsets, Array1<std::int32_t> parents) {
            new (self) ScoreIndex(view(variable_offsets), view(scores), view(set_offsets),
                                        view(parents));
          },
          "variable_offsets"_a, "scores"_a, "set_offsets"_a, "parents"_a,
          // The index reads the caller's arrays: they live as long as it does.
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>())
      .def(
          "score",
          [](const ScoreIndex& self, int child, const std::vector<std::int32_t>& parents) {
            return self.score(child, parents);
          },
          "child"_a, "parents"_a)
      .def(
          "find",
          [](const ScoreIndex& self, int child, const std::vector<std::int32_t>& parents) {
            return self.find(child, parents);
          },
          "child"_a, "parents"_a)
      .def("duplicate", &ScoreIndex::duplicate);

  nb::class_<LazyScoreCache>(m, "LazyScoreCache")
      .def(
          "__init__",
          [](LazyScoreCache* self, const ScoredData& data, std::int64_t max_sets) {
            new (self) LazyScoreCache(data.columns, data.terms,
                                            static_cast<std::size_t>(max_sets));
          },
          "data"_a, "max_sets"_a, nb::keep_alive<1, 2>())
      .def(
          "score",
          [](LazyScoreCache& self, int child, const std::vector<std::int32_t>& parents) {
            nb::gil_scoped_release release;
            return self.score(child, parents);
          },
          "child"_a, "parents"_a)
      .def("n_remembered", &LazyScoreCache::n_remembered)
      .def("n_computed", &LazyScoreCache::n_computed);
}

void bind_lookups(nb::module_& m) {
  nb::class_<ScoreLookup>(m, "ScoreLookup")
      .def("n_variables", &ScoreLookup::n_variables)
      .def("max_parents", &ScoreLookup::max_parents);
  nb::class_<IndexLookup, ScoreLookup>(m, "IndexLookup")
      .def(nb::init<const ScoreIndex&>(), "index"_a, nb::keep_alive<1, 2>());
  nb::class_<LazyLookup, ScoreLookup>(m, "LazyLookup")
      .def(
          "__init__",
          [](LazyLookup* self, LazyScoreCache& cache,
             Array1<std::int32_t> max_parents, Array2<std::uint8_t> allowed,
             std::vector<std::vector<std::int32_t>> required, double max_states,
             std::vector<double> n_states) {
            auto rules = make_rules(max_parents, allowed, std::move(required), false);
            rules.max_states = max_states;
            rules.n_states = std::move(n_states);
            new (self) LazyLookup(cache, std::move(rules));
          },
          "cache"_a, "max_parents"_a, "allowed"_a, "required"_a, "max_states"_a, "n_states"_a,
          nb::keep_alive<1, 2>());
  nb::class_<CallableLookup, ScoreLookup>(m, "CallableLookup")
      .def(nb::init<nb::callable, int, int>(), "function"_a, "n_variables"_a, "max_parents"_a);
}

}  // namespace

void bind_scores(nb::module_& m) {
  bind_tables(m);
  bind_lookups(m);
}

}  // namespace twbn::python
