#include "harness/comm/progress.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "harness/launch/leftovers.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {

Sleeper::Sleeper(ucp_worker_h worker, bool announces)
    : worker_(worker), longest_(announces ? 500 : 16) {
  if (!announces) return;
  check(ucp_worker_get_efd(worker, &wakeup_fd_), "ucp_worker_get_efd", Exit::cannot_run);
}

bool Sleeper::sleep(int also) {
  if (std::exchange(looks_, false)) first_ = std::min({2 * first_, latest_first, longest_});
  const auto armed = wakeup_fd_ < 0 ? UCS_OK : ucp_worker_arm(worker_);
  if (armed == UCS_ERR_BUSY) {
    // It has something to do, or waits for a peer to make room, which nothing announces: that peer
    // may need this processor.
    if (busy_++ > 0) ::sched_yield();
    return false;
  }
  check(armed, "ucp_worker_arm");
  busy_ = 0;
  std::array<pollfd, 2> fds = {{{wakeup_fd_, POLLIN, 0}, {also, POLLIN, 0}}};
  // A negative descriptor is ignored; an interrupted sleep is as good as a short one.
  looks_ = ::poll(fds.data(), fds.size(), static_cast<int>(limit_.count())) == 0;
  if (looks_) limit_ = std::min(2 * limit_, longest_);
  return true;
}

ThreadProgress::ThreadProgress(ucp_worker_h worker)
    : worker_(worker),
      stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

ThreadProgress::~ThreadProgress() {
  stop_.store(true);
  const std::uint64_t one = 1;
  // The descriptor is new and non-blocking: the write cannot fail, and the limit of each sleep
  // would end the thread if it did.
  [[maybe_unused]] const auto written = write(stop_fd_, &one, sizeof one);
  thread_.join();
  ::close(stop_fd_);
}

void ThreadProgress::run() {
  block_signals_but_stop();
  CudaContext::adopt();
  Sleeper sleeper(worker_);
  while (!stop_.load()) {
    if (progress_once(worker_)) {
      sleeper.worked();
    } else {
      sleeper.sleep(stop_fd_);
    }
  }
}

}  // namespace ucxbench
