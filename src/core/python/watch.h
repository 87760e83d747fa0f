// A kernel runs in a thread of its own; this one reports progress and listens for Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/control.h"

namespace twbn::python {

namespace nb = nanobind;

/// Whether Ctrl-C has arrived: recorded by `twbn.interrupts`, or raised here. Any other failure of
/// a signal handler is passed on.
bool interrupted_now();

/// Run `kernel(control)` in a separate thread while this thread calls `report()` and listens for
/// Ctrl-C, holding the GIL only while it does so. Returns the result and whether it was
/// interrupted, even if that happened before the kernel began or after it had finished.
template <class Report, class Kernel>
auto run_watched(Control& control, Report report, Kernel kernel) {
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

/// Without progress to report.
template <class Kernel>
auto run_watched(Control& control, Kernel kernel) {
  return run_watched(control, [] {}, std::move(kernel));
}

/// Calls `on_progress(work done)`, unless it is None.
inline auto progress_report(Control& control, const nb::object& on_progress) {
  return [&control, &on_progress] {
    if (!on_progress.is_none()) on_progress(control.done.load());
  };
}

}  // namespace twbn::python
