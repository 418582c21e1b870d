#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/launch/hub.hpp"
#include "harness/launch/process.hpp"
#include "harness/launch/remote.hpp"
#include "harness/launch/signals.hpp"

namespace ucxbench {

/// One fresh set of rank processes, from start to end. What they measure is theirs to know.
struct Launch {
  std::vector<RankCommand> ranks;  ///< this host's, in the order of their numbers
  std::string mpirun{};            ///< what gives all ranks a place in MPI; empty: they use none
  /// By rank, the number of its host, of which 0 is this one; empty: all are here.
  std::vector<int> hosts;
  /// What the supervisors of hosts 1, 2, … are told to start their ranks from.
  std::vector<nlohmann::json> told;
  Hub::Values preset;  ///< keys that every rank can get at once
  Hub::Find find{};    ///< of further ones, which are not sent before a rank asks; may be empty
  Hub::OnReport on_report;
  /// Takes what UCX says in a rank's output at level WARN and above, as it is passed on to stderr.
  /// May be empty.
  std::function<void(int rank, const std::string& line)> on_warning;
  /// Takes how a rank ended badly, in words, that had reported everything: what it measured is
  /// kept. May be empty.
  std::function<void(const std::string& how)> on_bad_end;
  std::chrono::milliseconds timeout{60000};  ///< longest time without progress of a rank
};

/// How another host's clock stood before and after a launch, where it answered.
struct HostClock {
  std::string host;
  std::optional<ClockOffset> before{}, after{};
};

struct LaunchOutcome {
  enum class State { completed, interrupted, failed };
  State state = State::completed;
  Exit exit = Exit::done;
  std::string reason;    ///< one line; empty when completed
  std::string stacks{};  ///< of ranks that hung, what each was doing, in lines; empty: none did
  /// Of a launch that failed because ranks did not reach each other, and none had died: those that
  /// did nothing any more, or were on a host that was lost, or said so.
  std::vector<int> unreached{};
  bool host_lost = false;   ///< its supervisor is not heard any more: no launch can have it
  bool said_there = false;  ///< of a follower: the listening side has ended the run, and says why
  std::vector<HostClock> clocks{};  ///< of hosts 1, 2, …
};

/// Runs one launch to its end; `others` are the hosts of Launch::told. When it returns, none of its
/// processes is left, unless a rank's own wrapper hid one by starting another session. A failure is
/// an outcome, never an exception.
LaunchOutcome run_launch(const Launch& launch, Signals& signals,
                         const RemoteSupervisors& others = {});

}  // namespace ucxbench
