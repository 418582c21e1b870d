#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/core/fd.hpp"
#include "harness/launch/environment.hpp"

namespace ucxbench {

inline constexpr const char* control_fd_variable = "UCXBENCH_INTERNAL_CONTROL_FD";
inline constexpr const char* rank_variable = "UCXBENCH_INTERNAL_RANK";
inline constexpr const char* size_variable = "UCXBENCH_INTERNAL_RANKS";
inline constexpr const char* on_machine_variable = "UCXBENCH_INTERNAL_RANK_ON_MACHINE";
inline constexpr const char* stop_fd_variable = "UCXBENCH_INTERNAL_STOP_FD";

/// Asks all ranks that were given its descriptor, at once, for what they have finished.
class StopCall {
 public:
  /// Throws Failure(Exit::cannot_run).
  StopCall();
  int fd() const { return event_.get(); }
  void call() const;

 private:
  Fd event_;
};

/// How to start one rank.
struct RankCommand {
  std::vector<std::string> argv;         ///< the rank's own; argv[0] is searched in PATH
  std::vector<std::string> environment;  ///< all of it, as "NAME=value"
  std::vector<int> cpus;                 ///< may run on these only; empty: as the supervisor
  std::string wrap;                      ///< the text of --wrap
  int on_machine = -1;  ///< its number among the ranks of its machine; -1: its rank
};

/// A rank of this program, in this process's environment with `settings` and, before these,
/// `from_user`.
RankCommand own_rank(const Variables& settings, const Variables& from_user, const std::string& wrap,
                     const std::vector<int>& cpus);

/// Whether what waits shall wait no longer.
using GivenUp = std::function<bool()>;

struct RankProcess {
  pid_t pid;   ///< also its process group
  Fd control;  ///< the supervisor's end of the control connection
  Fd output;   ///< what it prints, stdout and stderr alike; reading does not block
};

/// Starts a rank in its own process group, stdin from /dev/null, stdout and stderr into one pipe,
/// with two extra descriptors: the control connection and `stop_fd`, which is readable when it
/// shall report what it has finished (Lifeline), announced by the variables above. The kernel kills
/// it when the calling *thread* ends, until it has a Lifeline. Throws Failure: Exit::cannot_run
/// when the command cannot be executed or the CPUs are not there, Exit::usage for a malformed wrap,
/// Exit::interrupted when `given_up` says so while the program has not begun: it is asked ten times
/// a second.
RankProcess spawn_rank(const RankCommand& command, int rank, int size, int stop_fd,
                       const GivenUp& given_up);

}  // namespace ucxbench
