#include "harness/launch/lifeline.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "harness/core/activity.hpp"
#include "harness/core/due.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/launch/processes.hpp"

namespace ucxbench {
namespace {

constexpr int heartbeat_period_ms = 500;
// The default of 8 MiB is address space for nothing; static TLS of libraries comes out of this too.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;
// For the end, also when something holds the lifeline up, as a thread that hangs in the allocator.
constexpr unsigned end_limit_s = 2;

volatile pid_t watched_parent = -1;

void end_in_time() {
  ::signal(SIGALRM, SIG_DFL);
  ::alarm(end_limit_s);
}

/// The kernel's word that the parent died, or anybody's that a stopped rank shall go on.
void on_continue(int) {
  const int error = errno;
  if (::getppid() != watched_parent) end_in_time();
  errno = error;
}

}  // namespace

Lifeline::Lifeline(Channel& channel, Fd stop_fd, std::size_t ranks)
    : channel_(channel),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      stop_call_(std::move(stop_fd)),
      gives_way_(give_way_at_their_end(ranks)) {
  watched_parent = ::getppid();
  struct sigaction action{};
  action.sa_handler = on_continue;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGCONT, &action, nullptr);
  // The kernel sends it, then SIGCONT, to a stopped rank when the last of its process group that
  // had a parent outside loses it.
  ::signal(SIGHUP, SIG_IGN);
  // Who ends a job (scancel, Kubernetes) may tell each of its processes: it is the supervisor that
  // ends its ranks, once they have reported what they have.
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  sigdelset(&others, SIGCONT);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_sigmask(SIG_SETMASK, &others, &before);  // these are for the rank's own threads
  const int error = pthread_create(&thread_, &attributes, &Lifeline::run, this);
  sigaddset(&before, SIGCONT);  // nothing of theirs shall end with EINTR
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    throw Failure(Exit::cannot_run,
                  fmt::format("cannot start a thread: {}", std::generic_category().message(error)));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGCONT);
}

Lifeline::~Lifeline() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
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
  pollfd entries[] = {
      {channel_.fd(), POLLRDHUP, 0}, {stop_.get(), POLLIN, 0}, {stop_call_.get(), POLLIN, 0}};
  for (;;) {
    try {
      channel_.offer(
          {{"type", "heartbeat"}, {"activity", activity_of_all() + activity_of_pauses()}});
    } catch (const Failure&) {
      end(Exit::lost);
    }
    ::poll(entries, 3, heartbeat_period_ms);
    if (entries[1].revents != 0) return;
    if (entries[0].revents != 0) end(Exit::lost);
    if (entries[2].revents != 0) {
      entries[2].fd = -1;  // once
      report_finished();
    }
  }
}

void Lifeline::at_stop(Rendezvous::Finished finished) {
  const std::lock_guard lock(finished_mutex_);
  finished_ = std::move(finished);
}

void Lifeline::report_finished() {
  reset_connections();
  try {
    const std::lock_guard lock(finished_mutex_);
    if (finished_) {
      for (const auto& [key, value] : finished_()) {
        channel_.send({{"type", "report"}, {"key", key}, {"value", nlohmann::json::binary(value)}});
      }
    }
    channel_.send({{"type", "reported"}});
    // What the other threads still do is given up. Hundreds of ranks that go on until the
    // supervisor kills them keep it from its work; it removes what they leave. The end itself, with
    // hundreds of connections, shall not keep it from that either.
    const sched_param none{};
    for (const pid_t thread : {::getpid(), ::gettid()}) {
      if (gives_way_) ::sched_setscheduler(thread, SCHED_IDLE, &none);
    }
    ::_exit(static_cast<int>(Exit::interrupted));
  } catch (const Failure&) {
    end(Exit::lost);
  }
}

void Lifeline::end(Exit exit) const {
  end_in_time();
  reset_connections();
  stop_and_leave_nothing(since_);
  ::_exit(static_cast<int>(exit));
}

}  // namespace ucxbench
