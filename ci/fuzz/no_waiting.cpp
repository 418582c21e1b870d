// Waits of the program under test take no time: where nothing is ready at once, the steady clock
// goes on by the time that was to be waited.

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<long> passed_ms = 0;

int at_once(long ready, int limit_ms) {
  if (ready == 0 && limit_ms > 0) passed_ms += limit_ms;
  return static_cast<int>(ready);
}

}  // namespace

// As the C library declares them.
extern "C" {

int poll(pollfd* entries, nfds_t count, int limit_ms) {
  return at_once(::syscall(SYS_poll, entries, count, 0), limit_ms);
}

int epoll_wait(int set, epoll_event* events, int most, int limit_ms) {
  return at_once(::syscall(SYS_epoll_wait, set, events, most, 0), limit_ms);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto status = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_MONOTONIC) {
    const long milliseconds = passed_ms;
    time->tv_sec += milliseconds / 1000;
    time->tv_nsec += milliseconds % 1000 * 1'000'000;
    if (time->tv_nsec >= 1'000'000'000) {
      ++time->tv_sec;
      time->tv_nsec -= 1'000'000'000;
    }
  }
  return status;
}
}
