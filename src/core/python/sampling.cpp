// k-trees: the best structure inside one, and sampling of many.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <tuple>

#include "python/arrays.h"
#include "python/module.h"
#include "python/watch.h"
#include "sampling/ktree_dp.h"
#include "sampling/ktree_sampling.h"

namespace twbn::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_sampling(nb::module_& m) {
  m.def("ktree_dp_bytes", &ktree_dp_bytes, "n"_a, "k"_a);
  m.def(
      "optimize_ktree",
      [](ScoreLookup& scores, int n, int k, const Steps& steps,
         std::optional<double> time_limit) {
        using Parents = std::vector<std::vector<std::int32_t>>;
        KTreeSteps tree{n,
                              k,
                              std::get<0>(steps),
                              std::get<1>(steps),
                              std::get<2>(steps),
                              std::get<3>(steps)};
        Control control;
        control.set_time_limit(time_limit);
        auto [found, interrupted] = run_watched(control, [&](Control& shared) {
          KTreeOptimizer optimizer(scores, n, k);
          const double score = optimizer.best_score(tree, shared);
          return std::pair(score, std::isinf(score) ? Parents() : optimizer.best_parents());
        });
        return std::tuple(found.first, std::move(found.second), interrupted, control.expired());
      },
      "scores"_a, "n"_a, "k"_a, "steps"_a, "time_limit"_a.none());
  m.def(
      "sample_ktrees",
      [](ScoreLookup& scores, int n, int k, bool exact, std::uint64_t seed,
         std::int64_t max_iterations, double good_enough, double known, int n_jobs,
         std::optional<double> time_limit, nb::object on_progress) {
        Control control;
        control.best = known;
        control.set_time_limit(time_limit);
        const auto start = Clock::now();
        const auto report = [&] {
          if (on_progress.is_none()) return;
          const double seconds =
              std::chrono::duration<double>(Clock::now() - start).count();
          on_progress(seconds, control.done.load(), control.best.load());
        };
        auto [found, interrupted] = run_watched(control, report, [&](Control& shared) {
          const auto factory =
              exact ? exact_evaluator(scores, n, k) : order_evaluator(scores, n, k);
          return sample_ktrees(n, k, *factory, seed, max_iterations, good_enough, n_jobs,
                                     shared);
        });
        nb::dict result;
        result["found"] = found.found;
        result["score"] = found.score;
        result["parents"] = std::move(found.parents);
        result["steps"] = steps_tuple(found.tree);
        nb::list trace;
        for (const Improvement& step : found.trace) {
          trace.append(nb::make_tuple(step.seconds, step.iteration, step.score));
        }
        result["trace"] = trace;
        result["n_iterations"] = found.n_iterations;
        result["interrupted"] = interrupted;
        return result;
      },
      "scores"_a, "n"_a, "k"_a, "exact"_a, "seed"_a, "max_iterations"_a, "good_enough"_a,
      "known"_a, "n_jobs"_a, "time_limit"_a.none(), "on_progress"_a.none());
}

}  // namespace twbn::python
