// State shared by a running kernel and the thread that waits for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "base/numbers.h"

namespace twbn {

using Clock = std::chrono::steady_clock;

/// A deadline, a stop flag and a count of work done. Kernels poll it; callers may set `stop`.
struct Control {
  std::atomic<bool> stop{false};
  std::atomic<bool> enough{false};  // nothing better can be found
  std::atomic<std::int64_t> done{0};
  std::atomic<double> best{minus_infinity};
  Clock::time_point deadline = Clock::time_point::max();

  void set_time_limit(std::optional<double> seconds) {
    if (seconds && *seconds < 1e9) {
      deadline = Clock::now() +
                 std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
    }
  }
  bool expired() const {
    return stop.load(std::memory_order_relaxed) || enough.load(std::memory_order_relaxed) ||
           (deadline != Clock::time_point::max() && Clock::now() >= deadline);
  }
};

/// Run `work(unit, worker)` for unit = 0 .. n_units - 1 on `n_jobs` threads, handing out units in
/// order. `make_worker()` builds the scratch space of one thread, `finish(worker)` collects what it
/// has found. The first exception is rethrown. Uses fewer threads if the system grants no more.
template <class MakeWorker, class Work, class Finish>
void for_each_unit(std::int64_t n_units, int n_jobs, Control& control, MakeWorker make_worker,
                   Work work, Finish finish) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  auto loop = [&] {
    try {
      auto worker = make_worker();
      for (;;) {
        const std::int64_t unit = next.fetch_add(1);
        if (unit >= n_units || control.expired()) break;
        work(unit, worker);
      }
      const std::lock_guard lock(mutex);
      finish(worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      control.stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (std::int64_t job = 1; job < std::min<std::int64_t>(n_jobs, n_units); ++job) {
    try {
      threads.emplace_back(loop);
    } catch (const std::system_error&) {
      break;
    }
  }
  loop();
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace twbn
