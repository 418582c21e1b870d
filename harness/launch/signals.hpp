#pragma once

#include <signal.h>

#include "harness/launch/fd.hpp"

namespace ucxbench {

/// Collects SIGINT, SIGTERM and SIGCHLD for a supervisor instead of letting them interrupt it. One
/// instance covers all launches of a run, so that a Ctrl-C between two launches counts too. The
/// former mask and SIGCHLD's former action come back at the end.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }  ///< readable when `collect` has something to do
  /// Whether a child ended, stopped or went on since the last call.
  bool collect();

  /// The user asked to end after the current repetition, or to end now.
  bool stop() const { return interrupts_ >= 1 || terminated_; }
  bool abort() const { return interrupts_ >= 2 || terminated_; }
  bool terminated() const { return terminated_; }

 private:
  sigset_t mask_before_{};
  struct sigaction child_before_{};
  Fd fd_;
  int interrupts_ = 0;
  bool terminated_ = false;
};

/// Undoes the crash handlers that libucs installs when it is loaded: in a supervisor, which calls
/// no UCX, they would only hide what the kernel has to say.
void reset_crash_handlers();

}  // namespace ucxbench
