// The only file that knows Python: arrays in, arrays out, the GIL released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "all_sets.h"
#include "best_first.h"
#include "columns.h"
#include "control.h"
#include "elimination.h"
#include "lazy_scores.h"
#include "positive_instances.h"
#include "random.h"
#include "score_index.h"
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

// Runs `kernel(control)` in a thread of its own while this one, which holds the GIL only to do so,
// reports progress and listens for Ctrl-C. Returns the result and whether it was interrupted.
template <class Kernel>
auto run_watched(twbn::Control& control, const nb::object& on_progress, Kernel kernel) {
  using Result = decltype(kernel(control));
  std::optional<Result> result;
  std::exception_ptr failure;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  bool interrupted = false;

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
        if (PyErr_CheckSignals() != 0) {
          nb::python_error error;
          if (error.matches(PyExc_KeyboardInterrupt)) {
            interrupted = true;
          } else {
            python_failure.emplace(std::move(error));
          }
          control.stop = true;
        } else if (!on_progress.is_none() && !control.stop) {
          try {
            on_progress(control.done.load());
          } catch (nb::python_error& error) {
            if (error.matches(PyExc_KeyboardInterrupt)) {
              interrupted = true;
            } else {
              python_failure.emplace(std::move(error));
            }
            control.stop = true;
          }
        }
      }
      lock.lock();
    }
    lock.unlock();
    thread.join();
  }
  if (python_failure) throw std::move(*python_failure);
  if (failure) std::rethrow_exception(failure);
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
  result["out_of_memory"] = sets.out_of_memory;
  result["interrupted"] = interrupted;
  return result;
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
        auto [sets, interrupted] = run_watched(control, on_progress, [&](twbn::Control& shared) {
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
      [](int n, Array2<std::int32_t> edges, bool fill, std::uint64_t seed, int give_up_above) {
        twbn::EliminationOrder result;
        {
          nb::gil_scoped_release release;
          twbn::Random random(seed);
          result = twbn::greedy_elimination(
              n, {edges.data(), edges.size()},
              fill ? twbn::Greedy::min_fill : twbn::Greedy::min_degree, random, give_up_above);
        }
        return std::tuple(result.width, to_numpy(std::move(result.order)));
      },
      "n"_a, "edges"_a, "fill"_a, "seed"_a, "give_up_above"_a);

  m.attr("max_decision_vertices") = twbn::max_decision_vertices;
  m.def(
      "decide_treewidth",
      [](int n, Array2<std::int32_t> edges, int k, std::int64_t max_bytes,
         std::optional<double> time_limit) {
        twbn::Control control;
        control.set_time_limit(time_limit);
        auto [result, interrupted] = run_watched(control, nb::none(), [&](twbn::Control& shared) {
          return twbn::decide_treewidth(n, {edges.data(), edges.size()}, k, max_bytes, shared);
        });
        const char* answer = result.decision == twbn::Decision::yes  ? "yes"
                             : result.decision == twbn::Decision::no ? "no"
                             : interrupted                           ? "interrupted"
                                                                     : "stopped";
        return std::tuple(std::string(answer), std::move(result.bags), std::move(result.parents));
      },
      "n"_a, "edges"_a, "k"_a, "max_bytes"_a, "time_limit"_a.none());
}
