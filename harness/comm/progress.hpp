#pragma once

#include <sched.h>
#include <ucp/api/ucp.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "harness/comm/worker.hpp"
#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {

// The progress modes. Each has: Count, the type of a counter that a completion changes;
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

/// One of several threads that poll. `Counter`: atomic where they poll one worker, since then any
/// of them may run the callback of another's message.
template <typename Counter>
class ThreadPollProgress {
 public:
  using Count = Counter;
  /// `thread`: its number, below most_busy_threads. `another_failed`: then this one gives up.
  ThreadPollProgress(ucp_worker_h worker, std::size_t thread,
                     const std::atomic<bool>& another_failed)
      : worker_(worker), activity_(activities().at(thread)), another_failed_(another_failed) {}

  template <typename Done>
  void until(Done done) {
    while (!done()) turn();
  }
  void turn() {
    if (ucp_worker_progress(worker_) != 0) {
      activity_.bump();
      in_vain_ = 0;
    } else if (++in_vain_ == patience) [[unlikely]] {
      in_vain_ = 0;
      look_around();
    }
  }
  void completed() {}

 private:
  /// Calls that found nothing, some 20 us. Where threads outnumber CPUs, what a thread waits for
  /// may be done by one that waits for a CPU: it goes first.
  static constexpr int patience = 1000;

  void look_around() {
    if (another_failed_.load(std::memory_order_relaxed)) {
      throw Failure(Exit::lost, "another thread of this rank has failed");
    }
    sched_yield();
  }

  ucp_worker_h worker_;
  Activity& activity_;
  const std::atomic<bool>& another_failed_;
  int in_vain_ = 0;
};

/// Lets a thread sleep until its worker has something to do. Some transports lose wake-ups, and
/// what is pending in others is announced by none: so it looks again by itself, first after 1 ms,
/// then after twice as long, up to half a second. As long as such looks find nothing, those of
/// later waits begin later, up to 64 ms: among hundreds of ranks on a few CPUs each look takes time
/// from the others. One that finds something begins with 1 ms again. A worker that announces
/// nothing is looked at every 16 ms at least.
class Sleeper {
 public:
  /// `announces`: the worker has UCP_FEATURE_WAKEUP.
  explicit Sleeper(ucp_worker_h worker, bool announces = true);

  /// To be called when progress did nothing. Returns when the worker may have something to do, or
  /// `also` (a descriptor; -1: none) can be read: at once, and false, where the worker is not idle.
  bool sleep(int also = -1);
  /// Progress did something.
  void worked() {
    if (std::exchange(looks_, false)) first_ = shortest;
    limit_ = first_;
    busy_ = 0;
  }

 private:
  static constexpr std::chrono::milliseconds shortest{1};
  static constexpr std::chrono::milliseconds latest_first{64};

  ucp_worker_h worker_;
  int wakeup_fd_ = -1;
  std::chrono::milliseconds longest_;
  std::chrono::milliseconds first_ = shortest;  // limit of a wait's first sleep
  std::chrono::milliseconds limit_ = shortest;  // of the next sleep
  bool looks_ = false;                          // the last sleep ended by its limit
  unsigned busy_ = 0;                           // times that it was not idle, one after the other
};

class EventProgress {
 public:
  using Count = int;
  explicit EventProgress(ucp_worker_h worker) : worker_(worker), sleeper_(worker) {}

  template <typename Done>
  void until(Done done) {
    while (!done()) {
      if (progress_once(worker_)) {
        sleeper_.worked();
      } else if (!done()) {
        sleeper_.sleep();
      }
    }
  }
  void turn() { progress_once(worker_); }
  void completed() {}

 private:
  ucp_worker_h worker_;
  Sleeper sleeper_;
};

/// Either of the two, as is known only when it runs: for loops that are not made for each mode.
class PollOrEventProgress {
 public:
  using Count = int;
  PollOrEventProgress(ucp_worker_h worker, ProgressMode mode) : poll_(worker) {
    if (mode.kind == ProgressMode::Kind::event) event_.emplace(worker);
  }

  template <typename Done>
  void until(Done done) {
    event_ ? event_->until(done) : poll_.until(done);
  }
  void turn() { poll_.turn(); }
  void completed() {}

 private:
  PollProgress poll_;
  std::optional<EventProgress> event_;
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
  int stop_fd_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint32_t> completions_{0};
  std::thread thread_;
};

}  // namespace ucxbench
