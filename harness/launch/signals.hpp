#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

#include "harness/core/fd.hpp"

namespace ucxbench {

/// Takes SIGINT, SIGTERM, SIGHUP (unless it is ignored, as by nohup) and SIGCHLD for a supervisor.
/// One instance at a time; it covers all launches of a run, so that a Ctrl-C between two launches
/// counts too. Who waits for others looks at `stop`, as a Waiting; all other work of this process
/// goes on until it is done, but not for long (end_within): what is measured is in the run file's
/// journal. The user is told of the end at once in any case, and a second signal, unless it comes
/// with the first (within 50 ms), ends this process within two seconds whatever it does: its ranks
/// end by themselves when they lose it. The former mask and actions come back at the end.
class Signals {
 public:
  /// Throws Failure(Exit::cannot_run).
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// As long as others are watched, who may take their time to end, and are limited by the watcher.
  class Waiting {
   public:
    explicit Waiting(const Signals& signals);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    const Signals& signals_;
  };

  int fd() const { return wake_.get(); }  ///< readable when `collect` has something to do
  /// Whether a child ended, stopped or went on since the last call.
  bool collect();

  /// From now on the end of this process's parent is a SIGTERM, sent by `collect`: a launcher that
  /// is killed sends none.
  void end_with_parent();

  /// The user asked to end: giving up the sample under way, or at once.
  bool stop() const;
  bool abort() const;
  /// How the user did that: "stopped by Ctrl-C".
  const char* reason() const;

 private:
  static constexpr std::array taken{SIGINT, SIGTERM, SIGHUP, SIGCHLD};

  sigset_t mask_before_{};
  std::array<struct sigaction, taken.size()> before_{};
  Fd wake_;
  pid_t parent_ = 0;  ///< 0: may end
};

}  // namespace ucxbench
