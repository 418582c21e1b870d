#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "harness/comm/ucx_error.hpp"
#include "harness/core/activity.hpp"

namespace ucxbench {

// The four progress modes. Each has: Count, the type of a counter that a completion changes;
// until(done), which returns when done() is true; turn(), one non-blocking step for code that waits
// for something else; completed(), called from UCX's completion callbacks. Whatever UCX does counts
// as this process's activity, so that one giant message is not taken for a hang.

/// One call of ucp_worker_progress; whether it did anything.
inline bool progress_once(ucp_worker_h worker) {
  if (ucp_worker_progress(worker) == 0) return false;
  activity().bump();
  return true;
}

class PollProgress {
 public:
  using Count = int;
  explicit PollProgress(ucp_worker_h worker) : worker_(worker) {}

  template <typename Done>
  void until(Done done) {
    while (!done()) progress_once(worker_);
  }
  void turn() { progress_once(worker_); }
  void completed() {}

 private:
  ucp_worker_h worker_;
};

/// Sleeps until the worker's wake-up descriptor is readable; returns at once when the worker was
/// not idle. Needs UCP_FEATURE_WAKEUP. At most `limit` in one call, so that no lost event can hang.
void sleep_on_worker(ucp_worker_h worker, int wakeup_fd, int extra_fd,
                     std::chrono::milliseconds limit);
int wakeup_descriptor(ucp_worker_h worker);

class EventProgress {
 public:
  using Count = int;
  explicit EventProgress(ucp_worker_h worker)
      : worker_(worker), wakeup_fd_(wakeup_descriptor(worker)) {}

  template <typename Done>
  void until(Done done) {
    while (!done()) {
      if (!progress_once(worker_) && !done()) {
        sleep_on_worker(worker_, wakeup_fd_, -1, std::chrono::milliseconds(500));
      }
    }
  }
  void turn() { progress_once(worker_); }
  void completed() {}

 private:
  ucp_worker_h worker_;
  int wakeup_fd_;
};

/// Progresses only at the ticks of a free-running timer.
class PeriodicProgress {
 public:
  using Count = int;
  PeriodicProgress(ucp_worker_h worker, std::chrono::nanoseconds period)
      : worker_(worker), period_(period), next_(std::chrono::steady_clock::now()) {}

  template <typename Done>
  void until(Done done) {
    while (!done()) {
      const auto now = std::chrono::steady_clock::now();
      while (next_ <= now) next_ += period_;
      std::this_thread::sleep_until(next_);
      turn();
    }
  }
  void turn() {
    while (progress_once(worker_)) {
    }
  }
  void completed() {}

 private:
  ucp_worker_h worker_;
  std::chrono::nanoseconds period_;
  std::chrono::steady_clock::time_point next_;
};

/// A thread that sleeps on the wake-up descriptor and progresses; the application's thread sleeps
/// until a completion. Needs a multi-threaded worker.
class ThreadProgress {
 public:
  using Count = std::atomic<int>;
  explicit ThreadProgress(ucp_worker_h worker);
  ~ThreadProgress();
  ThreadProgress(const ThreadProgress&) = delete;
  ThreadProgress& operator=(const ThreadProgress&) = delete;

  template <typename Done>
  void until(Done done) {
    if (done()) return;
    // What was started while the thread slept may need progress that no event announces, such as
    // a copy by CMA.
    ucp_worker_signal(worker_);
    for (;;) {
      const auto seen = completions_.load(std::memory_order_acquire);
      if (done()) return;
      completions_.wait(seen, std::memory_order_acquire);
    }
  }
  // Also called by code that waits for the rendezvous: the thread does the work.
  void turn() { std::this_thread::yield(); }
  void completed() {
    completions_.fetch_add(1, std::memory_order_release);
    completions_.notify_all();
  }

 private:
  void run();

  ucp_worker_h worker_;
  int wakeup_fd_;
  int stop_fd_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint32_t> completions_{0};
  std::thread thread_;
};

}  // namespace ucxbench
