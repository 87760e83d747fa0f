// The only file that knows Python: arrays in, arrays out, the GIL released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "all_sets.h"
#include "anneal.h"
#include "best_first.h"
#include "bounded_dp.h"
#include "columns.h"
#include "control.h"
#include "cut_search.h"
#include "dandelion.h"
#include "elimination.h"
#include "family_pricer.h"
#include "ktree_dp.h"
#include "ktree_sampling.h"
#include "lazy_scores.h"
#include "positive_instances.h"
#include "random.h"
#include "row_messages.h"
#include "score_index.h"
#include "score_lookup.h"
#include "subset_dp.h"
#include "terms.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> view(const Array1<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
NewArray<T> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return NewArray<T>(owned->data(), {owned->size()}, owner);
}

// Whether Ctrl-C has come: noted by `twbn.interrupts`, or raised here. Other failures of signal
// handlers go on.
bool interrupted_now() {
  if (PyErr_CheckSignals() != 0) {
    nb::python_error error;
    if (!error.matches(PyExc_KeyboardInterrupt)) throw error;
    return true;
  }
  return nb::cast<bool>(nb::module_::import_("twbn.interrupts").attr("pending")());
}

// Runs `kernel(control)` in a thread of its own while this one, which holds the GIL only to do so,
// calls `report()` and listens for Ctrl-C. Returns the result and whether it was interrupted: also
// when that was before it began, or after it was done.
template <class Report, class Kernel>
auto run_watched(twbn::Control& control, Report report, Kernel kernel) {
  using Result = decltype(kernel(control));
  std::optional<Result> result;
  std::exception_ptr failure;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  bool interrupted = interrupted_now();
  if (interrupted) control.stop = true;

  std::thread thread([&] {
    try {
      result.emplace(kernel(control));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    finished.notify_one();
  });
  std::optional<nb::python_error> python_failure;
  {
    nb::gil_scoped_release release;
    std::unique_lock lock(mutex);
    auto pause = std::chrono::milliseconds(20);
    while (!finished.wait_for(lock, pause, [&] { return done; })) {
      pause = std::chrono::milliseconds(100);
      lock.unlock();
      {
        nb::gil_scoped_acquire acquire;
        try {
          if (interrupted_now()) {
            interrupted = true;
            control.stop = true;
          }
          if (!control.stop) report();
        } catch (nb::python_error& error) {
          if (error.matches(PyExc_KeyboardInterrupt)) {
            interrupted = true;
          } else {
            python_failure.emplace(std::move(error));
          }
          control.stop = true;
        }
      }
      lock.lock();
    }
    lock.unlock();
    thread.join();
  }
  if (python_failure) throw std::move(*python_failure);
  if (failure) std::rethrow_exception(failure);
  interrupted = interrupted_now() || interrupted;
  return std::pair<Result, bool>(std::move(*result), interrupted);
}

twbn::ScoreKind score_kind(const std::string& name) {
  if (name == "bdeu") return twbn::ScoreKind::bdeu;
  if (name == "bic") return twbn::ScoreKind::bic;
  if (name == "aic") return twbn::ScoreKind::aic;
  if (name == "k2") return twbn::ScoreKind::k2;
  if (name == "loglik") return twbn::ScoreKind::loglik;
  throw std::invalid_argument("unknown score " + name);
}

/// A coded table with the terms of one score.
struct ScoredData {
  ScoredData(Array2<std::int32_t> codes, Array1<std::int32_t> arities,
             std::optional<Array1<double>> weights, const std::string& score, double ess)
      : columns({codes.data(), codes.size()}, view(arities),
                weights ? view(*weights) : std::span<const double>()),
        terms(score_kind(score), ess, columns.total_weight(), !columns.weighted()) {}
  twbn::Columns columns;
  twbn::Terms terms;
};

twbn::ParentSetRules make_rules(Array1<std::int32_t> max_parents, Array2<std::uint8_t> allowed,
                                std::vector<std::vector<std::int32_t>> required, bool prune) {
  twbn::ParentSetRules rules;
  rules.max_parents.assign(max_parents.data(), max_parents.data() + max_parents.size());
  rules.allowed.assign(allowed.data(), allowed.data() + allowed.size());
  rules.required = std::move(required);
  rules.prune = prune;
  return rules;
}

nb::dict scored_sets_dict(twbn::ScoredSets&& sets, bool interrupted) {
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
class CallableLookup final : public twbn::ScoreLookup {
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

using Steps = std::tuple<std::vector<std::int32_t>, std::vector<std::int32_t>,
                         std::vector<std::int32_t>, std::vector<std::int32_t>>;

Steps steps_tuple(const twbn::KTreeSteps& tree) {
  return {tree.root, tree.vertex, tree.parent, tree.dropped};
}

std::vector<std::pair<double, std::vector<std::int32_t>>> cut_list(std::vector<twbn::Cut>&& cuts) {
  std::vector<std::pair<double, std::vector<std::int32_t>>> list;
  for (twbn::Cut& cut : cuts) list.emplace_back(cut.violation, std::move(cut.vertices));
  return list;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Compiled kernels of twbn. Arguments are checked by the Python that calls them.";

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
        twbn::Control control;
        control.set_time_limit(time_limit);
        const auto report = [&] {
          if (!on_progress.is_none()) on_progress(control.done.load());
        };
        auto [sets, interrupted] = run_watched(control, report, [&](twbn::Control& shared) {
          return budget ? twbn::explore_best_first(data.columns, data.terms, rules, *budget, n_jobs,
                                                   shared)
                        : twbn::score_all_sets(data.columns, data.terms, rules, n_jobs,
                                               max_result_bytes, shared);
        });
        return scored_sets_dict(std::move(sets), interrupted);
      },
      "data"_a, "max_parents"_a, "allowed"_a, "required"_a, "prune"_a, "budget"_a.none(),
      "n_jobs"_a, "max_result_bytes"_a, "time_limit"_a.none(), "on_progress"_a.none());

  nb::class_<twbn::ScoreIndex>(m, "ScoreIndex")
      .def(
          "__init__",
          [](twbn::ScoreIndex* self, Array1<std::int64_t> variable_offsets, Array1<double> scores,
             Array1<std::int64_t> set_offsets, Array1<std::int32_t> parents) {
            new (self) twbn::ScoreIndex(view(variable_offsets), view(scores), view(set_offsets),
                                        view(parents));
          },
          "variable_offsets"_a, "scores"_a, "set_offsets"_a, "parents"_a,
          // The index reads the caller's arrays: they live as long as it does.
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>())
      .def(
          "score",
          [](const twbn::ScoreIndex& self, int child, const std::vector<std::int32_t>& parents) {
            return self.score(child, parents);
          },
          "child"_a, "parents"_a)
      .def("duplicate", &twbn::ScoreIndex::duplicate);

  nb::class_<twbn::LazyScoreCache>(m, "LazyScoreCache")
      .def(
          "__init__",
          [](twbn::LazyScoreCache* self, const ScoredData& data, std::int64_t max_sets) {
            new (self) twbn::LazyScoreCache(data.columns, data.terms,
                                            static_cast<std::size_t>(max_sets));
          },
          "data"_a, "max_sets"_a, nb::keep_alive<1, 2>())
      .def(
          "score",
          [](twbn::LazyScoreCache& self, int child, const std::vector<std::int32_t>& parents) {
            nb::gil_scoped_release release;
            return self.score(child, parents);
          },
          "child"_a, "parents"_a)
      .def("n_remembered", &twbn::LazyScoreCache::n_remembered)
      .def("n_computed", &twbn::LazyScoreCache::n_computed);

  m.def(
      "greedy_elimination",
      [](int n, Array2<std::int32_t> edges, bool fill, std::uint64_t seed, int give_up_above,
         std::optional<double> time_limit) {
        twbn::EliminationOrder result;
        {
          nb::gil_scoped_release release;
          twbn::Random random(seed);
          twbn::Control control;
          control.set_time_limit(time_limit);
          result = twbn::greedy_elimination(
              n, {edges.data(), edges.size()},
              fill ? twbn::Greedy::min_fill : twbn::Greedy::min_degree, random, give_up_above,
              control);
        }
        return std::tuple(result.width, to_numpy(std::move(result.order)));
      },
      "n"_a, "edges"_a, "fill"_a, "seed"_a, "give_up_above"_a, "time_limit"_a.none());

  m.attr("max_decision_vertices") = twbn::max_decision_vertices;
  m.def(
      "decide_treewidth",
      [](int n, Array2<std::int32_t> edges, int k, std::int64_t max_bytes,
         std::optional<double> time_limit) {
        twbn::Control control;
        control.set_time_limit(time_limit);
        auto [result, interrupted] = run_watched(control, [] {}, [&](twbn::Control& shared) {
          return twbn::decide_treewidth(n, {edges.data(), edges.size()}, k, max_bytes, shared);
        });
        const char* answer = result.decision == twbn::Decision::yes  ? "yes"
                             : result.decision == twbn::Decision::no ? "no"
                             : interrupted                           ? "interrupted"
                                                                     : "stopped";
        return std::tuple(std::string(answer), std::move(result.bags), std::move(result.parents));
      },
      "n"_a, "edges"_a, "k"_a, "max_bytes"_a, "time_limit"_a.none());

  nb::class_<twbn::ScoreLookup>(m, "ScoreLookup")
      .def("n_variables", &twbn::ScoreLookup::n_variables)
      .def("max_parents", &twbn::ScoreLookup::max_parents);
  nb::class_<twbn::IndexLookup, twbn::ScoreLookup>(m, "IndexLookup")
      .def(nb::init<const twbn::ScoreIndex&>(), "index"_a, nb::keep_alive<1, 2>());
  nb::class_<twbn::LazyLookup, twbn::ScoreLookup>(m, "LazyLookup")
      .def(
          "__init__",
          [](twbn::LazyLookup* self, twbn::LazyScoreCache& cache,
             Array1<std::int32_t> max_parents, Array2<std::uint8_t> allowed,
             std::vector<std::vector<std::int32_t>> required) {
            new (self) twbn::LazyLookup(
                cache, make_rules(max_parents, allowed, std::move(required), false));
          },
          "cache"_a, "max_parents"_a, "allowed"_a, "required"_a, nb::keep_alive<1, 2>());
  nb::class_<CallableLookup, twbn::ScoreLookup>(m, "CallableLookup")
      .def(nb::init<nb::callable, int, int>(), "function"_a, "n_variables"_a, "max_parents"_a);

  m.def(
      "dandelion_sample",
      [](int n, int k, std::uint64_t seed, std::uint64_t stream) {
        twbn::Random random(seed, stream);
        twbn::DandelionCode code;
        twbn::DandelionDecoder(n, k).sample(random, code);
        return std::tuple(std::move(code.q), std::move(code.node), std::move(code.label));
      },
      "n"_a, "k"_a, "seed"_a, "stream"_a);
  m.def(
      "dandelion_decode",
      [](int n, int k, std::vector<std::int32_t> q, std::vector<std::int32_t> node,
         std::vector<std::int32_t> label) {
        twbn::KTreeSteps tree;
        twbn::DandelionDecoder(n, k).decode({std::move(q), std::move(node), std::move(label)}, tree);
        return steps_tuple(tree);
      },
      "n"_a, "k"_a, "q"_a, "node"_a, "label"_a);

  m.def("ktree_dp_bytes", &twbn::ktree_dp_bytes, "n"_a, "k"_a);
  m.def(
      "optimize_ktree",
      [](twbn::ScoreLookup& scores, int n, int k, const Steps& steps,
         std::optional<double> time_limit) {
        using Parents = std::vector<std::vector<std::int32_t>>;
        twbn::KTreeSteps tree{n,
                              k,
                              std::get<0>(steps),
                              std::get<1>(steps),
                              std::get<2>(steps),
                              std::get<3>(steps)};
        twbn::Control control;
        control.set_time_limit(time_limit);
        auto [found, interrupted] = run_watched(control, [] {}, [&](twbn::Control& shared) {
          twbn::KTreeOptimizer optimizer(scores, n, k);
          const double score = optimizer.best_score(tree, shared);
          return std::pair(score, std::isinf(score) ? Parents() : optimizer.best_parents());
        });
        return std::tuple(found.first, std::move(found.second), interrupted, control.expired());
      },
      "scores"_a, "n"_a, "k"_a, "steps"_a, "time_limit"_a.none());
  m.def(
      "sample_ktrees",
      [](twbn::ScoreLookup& scores, int n, int k, bool exact, std::uint64_t seed,
         std::int64_t max_iterations, double good_enough, double known, int n_jobs,
         std::optional<double> time_limit, nb::object on_progress) {
        twbn::Control control;
        control.best = known;
        control.set_time_limit(time_limit);
        const auto start = twbn::Clock::now();
        const auto report = [&] {
          if (on_progress.is_none()) return;
          const double seconds =
              std::chrono::duration<double>(twbn::Clock::now() - start).count();
          on_progress(seconds, control.done.load(), control.best.load());
        };
        auto [found, interrupted] = run_watched(control, report, [&](twbn::Control& shared) {
          const auto factory =
              exact ? twbn::exact_evaluator(scores, n, k) : twbn::order_evaluator(scores, n, k);
          return twbn::sample_ktrees(n, k, *factory, seed, max_iterations, good_enough, n_jobs,
                                     shared);
        });
        nb::dict result;
        result["found"] = found.found;
        result["score"] = found.score;
        result["parents"] = std::move(found.parents);
        result["steps"] = steps_tuple(found.tree);
        nb::list trace;
        for (const twbn::Improvement& step : found.trace) {
          trace.append(nb::make_tuple(step.seconds, step.iteration, step.score));
        }
        result["trace"] = trace;
        result["n_iterations"] = found.n_iterations;
        result["interrupted"] = interrupted;
        result["enough"] = control.enough.load();
        return result;
      },
      "scores"_a, "n"_a, "k"_a, "exact"_a, "seed"_a, "max_iterations"_a, "good_enough"_a,
      "known"_a, "n_jobs"_a, "time_limit"_a.none(), "on_progress"_a.none());

  nb::class_<twbn::CandidateArcs>(m, "CandidateArcs")
      .def(nb::init<const twbn::ScoreLookup&>(), "scores"_a);
  m.def(
      "anneal",
      [](twbn::ScoreLookup& scores, const twbn::CandidateArcs& arcs, int k,
         const std::vector<std::vector<std::vector<std::int32_t>>>& starts,
         const std::vector<std::vector<std::int32_t>>& orders,
         const std::vector<std::uint64_t>& streams, double hottest, double coldest,
         std::uint64_t seed, std::int64_t n_proposals, double seconds, int n_jobs,
         nb::object on_progress, nb::object on_best) {
        twbn::Control control;
        control.set_time_limit(seconds);
        twbn::Board board;
        const bool watched = !on_best.is_none();
        const auto report = [&] {
          if (watched) {
            if (auto best = board.take()) on_best(best->score, best->parents, best->order);
          }
          if (!on_progress.is_none()) on_progress(control.done.load());
        };
        auto [found, interrupted] = run_watched(control, report, [&](twbn::Control& shared) {
          std::vector<twbn::ProvedNetwork> best(starts.size());
          std::vector<std::int64_t> accepted(starts.size());
          twbn::for_each_unit(
              static_cast<std::int64_t>(starts.size()), n_jobs, shared, [] { return 0; },
              [&](std::int64_t unit, int) {
                const auto u = static_cast<std::size_t>(unit);
                twbn::AnnealChain chain(scores, arcs, k, {0, starts[u], orders[u]}, seed,
                                        streams[u]);
                chain.run({hottest, coldest, n_proposals, seconds}, shared,
                          watched ? &board : nullptr);
                best[u] = chain.best();
                accepted[u] = chain.n_accepted();
              },
              [](int) {});
          return std::pair(std::move(best), std::move(accepted));
        });
        nb::list chains;
        for (std::size_t i = 0; i < found.first.size(); ++i) {
          twbn::ProvedNetwork& network = found.first[i];
          chains.append(nb::make_tuple(network.score, std::move(network.parents),
                                       std::move(network.order), found.second[i]));
        }
        return nb::make_tuple(chains, control.done.load(), interrupted);
      },
      "scores"_a, "arcs"_a, "k"_a, "starts"_a, "orders"_a, "streams"_a, "hottest"_a, "coldest"_a, "seed"_a,
      "n_proposals"_a, "seconds"_a, "n_jobs"_a, "on_progress"_a.none(), "on_best"_a.none());

  nb::class_<twbn::RowMessages>(m, "RowMessages")
      .def(
          "__init__",
          [](twbn::RowMessages* self, Array1<std::int32_t> n_states, Array1<std::int32_t> parent,
             Array1<std::int64_t> variable_offsets, Array1<std::int32_t> variables,
             Array1<double> tables, Array1<std::int32_t> exponents, std::int32_t target) {
            new (self) twbn::RowMessages({view(n_states), view(parent), view(variable_offsets),
                                          view(variables), view(tables), view(exponents)},
                                         target);
          },
          "n_states"_a, "parent"_a, "variable_offsets"_a, "variables"_a, "tables"_a, "exponents"_a,
          "target"_a)
      .def(
          "collect",
          [](const twbn::RowMessages& self, Array2<std::int32_t> rows, std::size_t n_states) {
            const std::size_t n = rows.shape(0);
            const std::size_t width = rows.shape(1);
            std::vector<double> posteriors(n * n_states);
            std::vector<double> logs(n);
            {
              nb::gil_scoped_release release;
              auto scratch = self.scratch();
              for (std::size_t i = 0; i < n; ++i) {
                logs[i] = self.collect({rows.data() + i * width, width},
                                       {posteriors.data() + i * n_states, n_states}, scratch);
              }
            }
            return nb::make_tuple(to_numpy(std::move(posteriors)), to_numpy(std::move(logs)));
          },
          "rows"_a, "n_states"_a);

  m.def(
      "find_clusters",
      [](int n, Array1<std::int32_t> child, Array1<double> weight, Array1<std::int64_t> offsets,
         Array1<std::int32_t> parents, int n_steps, int tenure, double least,
         std::size_t max_cuts, std::uint64_t seed, std::optional<double> time_limit) {
        twbn::Random random(seed);
        twbn::Control control;
        control.set_time_limit(time_limit);
        std::vector<twbn::Cut> cuts;
        {
          nb::gil_scoped_release release;
          cuts = twbn::find_clusters({n, view(child), view(weight), view(offsets), view(parents)},
                                     n_steps, tenure, least, max_cuts, random, control);
        }
        return cut_list(std::move(cuts));
      },
      "n"_a, "child"_a, "weight"_a, "offsets"_a, "parents"_a, "n_steps"_a, "tenure"_a, "least"_a,
      "max_cuts"_a, "seed"_a, "time_limit"_a.none());
  m.def(
      "find_dense_sets",
      [](int n, Array2<double> edges, int k, int n_steps, double least, std::size_t max_cuts,
         std::uint64_t seed, std::optional<double> time_limit) {
        twbn::Random random(seed);
        twbn::Control control;
        control.set_time_limit(time_limit);
        std::vector<twbn::Cut> cuts;
        {
          nb::gil_scoped_release release;
          cuts = twbn::find_dense_sets(n, {edges.data(), edges.size()}, k, n_steps, least, max_cuts,
                                       random, control);
        }
        return cut_list(std::move(cuts));
      },
      "n"_a, "edges"_a, "k"_a, "n_steps"_a, "least"_a, "max_cuts"_a, "seed"_a,
      "time_limit"_a.none());
  nb::class_<twbn::FamilyPricer>(m, "FamilyPricer")
      .def(nb::init<const twbn::ScoreIndex&>(), "index"_a, nb::keep_alive<1, 2>())
      .def(
          "values",
          [](const twbn::FamilyPricer& self, std::vector<std::vector<std::int32_t>> clusters,
             std::vector<double> cluster_weights, Array1<double> arc_charges,
             Array1<std::int32_t> pair_children, Array1<std::int32_t> pair_first,
             Array1<std::int32_t> pair_second, Array1<double> pair_charges, int n_jobs,
             std::optional<double> time_limit) {
            std::vector<double> values;
            {
              nb::gil_scoped_release release;
              twbn::Control control;
              control.set_time_limit(time_limit);
              values = self.values({std::move(clusters), std::move(cluster_weights),
                                    view(arc_charges), view(pair_children), view(pair_first),
                                    view(pair_second), view(pair_charges)},
                                   n_jobs, control);
              if (control.expired()) values.clear();  // some families have no value yet
            }
            return to_numpy(std::move(values));
          },
          "clusters"_a, "cluster_weights"_a, "arc_charges"_a, "pair_children"_a, "pair_first"_a,
          "pair_second"_a, "pair_charges"_a, "n_jobs"_a, "time_limit"_a.none());

  m.attr("max_subset_variables") = twbn::max_subset_variables;
  m.attr("max_dp_variables") = twbn::max_dp_variables;
  m.def("subset_dp_bytes", &twbn::subset_dp_bytes, "n"_a);
  nb::class_<twbn::SubsetTables>(m, "SubsetTables")
      .def("complete", &twbn::SubsetTables::complete)
      .def("optimum", &twbn::SubsetTables::optimum)
      .def("optimal_parents", &twbn::SubsetTables::optimal_parents);
  m.def(
      "subset_tables",
      [](const twbn::ScoreIndex& index, Array1<double> scores, int n_jobs,
         std::optional<double> time_limit) {
        twbn::Control control;
        control.set_time_limit(time_limit);
        auto [tables, interrupted] = run_watched(control, [] {}, [&](twbn::Control& shared) {
          return std::make_unique<twbn::SubsetTables>(index, view(scores), n_jobs, shared);
        });
        if (interrupted) {
          PyErr_SetNone(PyExc_KeyboardInterrupt);
          throw nb::python_error();
        }
        return std::move(tables);
      },
      "index"_a, "scores"_a, "n_jobs"_a, "time_limit"_a.none(), nb::keep_alive<0, 1>(),
      nb::keep_alive<0, 2>());
  m.def(
      "bounded_dp",
      [](const twbn::SubsetTables& tables, int k, double lower_bound, std::int64_t max_bytes,
         int n_jobs, std::optional<double> time_limit, nb::object on_progress) {
        twbn::Control control;
        control.set_time_limit(time_limit);
        const auto report = [&] {
          if (!on_progress.is_none()) on_progress(control.done.load());
        };
        auto dp = std::make_unique<twbn::BoundedDp>(tables, k, lower_bound, max_bytes);
        auto [outcome, interrupted] = run_watched(
            control, report, [&](twbn::Control& shared) { return dp->run(n_jobs, shared); });
        std::vector<std::uint32_t> parents;
        std::vector<std::int32_t> order;
        const bool found = outcome == twbn::DpOutcome::solved && !std::isinf(dp->score());
        if (found) dp->trace(parents, order);
        const char* text = interrupted                                   ? "interrupted"
                           : outcome == twbn::DpOutcome::solved          ? "solved"
                           : outcome == twbn::DpOutcome::out_of_memory   ? "out_of_memory"
                                                                         : "stopped";
        return std::tuple(std::string(text), dp->score(), std::move(parents), std::move(order),
                          dp->n_states());
      },
      "tables"_a, "k"_a, "lower_bound"_a, "max_bytes"_a, "n_jobs"_a, "time_limit"_a.none(),
      "on_progress"_a.none());
}
