#include "harness/launch/signals.hpp"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

#include "harness/core/ending.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

constexpr unsigned last_limit_s = 1;
// For what is left to do of a run that was ended, in processor time: its ranks have half a second
// to report, and all shall be over within one.
constexpr std::chrono::milliseconds rest_limit{400};
// `timeout -s INT` and some shells signal a process and then its group: nobody types so fast.
constexpr std::int64_t same_end_ns = 50'000'000;

// What the handlers tell the instance.
std::atomic<int> ends{0};
std::atomic<std::int64_t> first_end_ns{0};
std::atomic<int> ended_by{0};
std::atomic<bool> child_changed{false};
std::atomic<int> wake_fd{-1};
std::atomic<int> watched{0};  // of Signals::Waiting
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

// steady_clock promises nothing to a signal handler.
std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void end_now(int) { end_at_once(); }

void take_end(int signal) {
  int none = 0;
  if (ends.compare_exchange_strong(none, 1)) {
    first_end_ns = now_ns();
    ended_by = signal;
    end_at_latest();
    say_at_once("ending; once more ends at once\n");
    if (watched == 0) end_within(rest_limit);
    return;
  }
  // Zero: another thread is just taking it.
  const std::int64_t first = first_end_ns;
  if (first == 0 || now_ns() - first < same_end_ns) return;
  if (ends.fetch_add(1) == 1) {
    ::signal(SIGALRM, end_now);
    ::alarm(last_limit_s);
  }
}

void take(int signal) {
  const int error = errno;
  if (signal == SIGCHLD) {
    child_changed = true;
  } else {
    take_end(signal);
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd, &one, sizeof one);
  errno = error;
}

}  // namespace

Signals::Signals() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) {
    throw Failure(Exit::cannot_run,
                  std::string("cannot watch for signals: ") + std::strerror(errno));
  }
  ends = 0;
  first_end_ns = 0;
  ended_by = 0;
  child_changed = false;
  wake_fd = wake_.get();
  struct sigaction action{};
  action.sa_handler = take;
  action.sa_flags = SA_RESTART;
  sigset_t mask;
  sigemptyset(&mask);
  for (std::size_t at = 0; at < taken.size(); ++at) {
    sigaddset(&mask, taken[at]);
    // A parent that ignored SIGCHLD would have our children reaped by the kernel, unseen.
    const bool ignored = taken[at] == SIGHUP && ignores_hangups();
    ::sigaction(taken[at], ignored ? nullptr : &action, &before_[at]);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &mask, &mask_before_);
}

Signals::~Signals() {
  if (abort()) ::alarm(0);
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  for (std::size_t at = 0; at < taken.size(); ++at) ::sigaction(taken[at], &before_[at], nullptr);
  wake_fd = -1;
}

Signals::Waiting::Waiting(const Signals& signals) : signals_(signals) {
  ++watched;
  end_within({});
}

Signals::Waiting::~Waiting() {
  --watched;
  if (signals_.stop()) end_within(rest_limit);
}

bool Signals::collect() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken_bytes = ::read(wake_.get(), &count, sizeof count);
  if (parent_ != 0 && ::getppid() != parent_) {
    parent_ = 0;
    ::raise(SIGTERM);
  }
  return child_changed.exchange(false);
}

void Signals::end_with_parent() { parent_ = ::getppid(); }

bool Signals::stop() const { return ends >= 1; }

bool Signals::abort() const { return ends >= 2; }

const char* Signals::reason() const {
  if (ended_by == SIGTERM) return "terminated by SIGTERM";
  if (ended_by == SIGHUP) return "ended by SIGHUP: the terminal was closed";
  return abort() ? "aborted by a second Ctrl-C" : "stopped by Ctrl-C";
}

}  // namespace ucxbench
