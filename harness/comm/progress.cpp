#include "harness/comm/progress.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "harness/launch/leftovers.hpp"
#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {

int wakeup_descriptor(ucp_worker_h worker) {
  int fd = -1;
  check(ucp_worker_get_efd(worker, &fd), "ucp_worker_get_efd", Exit::cannot_run);
  return fd;
}

void sleep_on_worker(ucp_worker_h worker, int wakeup_fd, int extra_fd,
                     std::chrono::milliseconds limit) {
  const auto armed = ucp_worker_arm(worker);
  if (armed == UCS_ERR_BUSY) return;
  check(armed, "ucp_worker_arm");
  std::array<pollfd, 2> fds = {{{wakeup_fd, POLLIN, 0}, {extra_fd, POLLIN, 0}}};
  // A negative descriptor is ignored; an interrupted sleep is as good as a short one.
  poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
}

ThreadProgress::ThreadProgress(ucp_worker_h worker)
    : worker_(worker),
      wakeup_fd_(wakeup_descriptor(worker)),
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
  while (!stop_.load()) {
    if (!progress_once(worker_)) {
      sleep_on_worker(worker_, wakeup_fd_, stop_fd_, std::chrono::milliseconds(500));
    }
  }
}

}  // namespace ucxbench
