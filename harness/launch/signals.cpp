#include "harness/launch/signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/core/failure.hpp"

namespace ucxbench {

Signals::Signals() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&mask, signal);
  fd_ = Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) {
    throw Failure(Exit::cannot_run,
                  std::string("cannot watch for signals: ") + std::strerror(errno));
  }
  // A parent that ignored SIGCHLD would have our children reaped by the kernel, unseen.
  struct sigaction normal{};
  normal.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &normal, &child_before_);
  ::pthread_sigmask(SIG_BLOCK, &mask, &mask_before_);
}

Signals::~Signals() {
  collect();  // what is pending was meant for the run that ends here
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool Signals::collect() {
  bool child_changed = false;
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGINT) ++interrupts_;
    if (info.ssi_signo == SIGTERM) terminated_ = true;
    child_changed = child_changed || info.ssi_signo == SIGCHLD;
  }
  return child_changed;
}

void reset_crash_handlers() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, SIG_DFL);
}

}  // namespace ucxbench
