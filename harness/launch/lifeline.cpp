#include "harness/launch/lifeline.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

constexpr int heartbeat_period_ms = 500;
// The default of 8 MiB is address space for nothing; static TLS of libraries comes out of this too.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

}  // namespace

Lifeline::Lifeline(Channel& channel) : channel_(channel), stop_(::eventfd(0, EFD_CLOEXEC)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the rank's own threads
  const int error = pthread_create(&thread_, &attributes, &Lifeline::run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw Failure(Exit::cannot_run, "cannot start the rank's lifeline thread");
}

Lifeline::~Lifeline() {
  const std::uint64_t one = 1;
  // An eventfd below its maximum always takes a write.
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
  pthread_join(thread_, nullptr);
}

void* Lifeline::run(void* self) {
  static_cast<Lifeline*>(self)->watch();
  return nullptr;
}

void Lifeline::watch() {
  // POLLRDHUP, not POLLIN: the bytes are for the rank's own thread.
  pollfd entries[] = {{channel_.fd(), POLLRDHUP, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    try {
      channel_.offer(
          {{"type", "heartbeat"}, {"activity", activity().count.load(std::memory_order_relaxed)}});
    } catch (const Failure&) {
      ::_exit(static_cast<int>(Exit::lost));
    }
    ::poll(entries, 2, heartbeat_period_ms);
    if (entries[1].revents != 0) return;
    if (entries[0].revents != 0) ::_exit(static_cast<int>(Exit::lost));
  }
}

}  // namespace ucxbench
