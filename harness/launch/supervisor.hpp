#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
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
  std::vector<RankCommand> ranks;  ///< this host's, numbered from 0
  /// What a remote supervisor is told to start the last rank from; null where there is none.
  nlohmann::json remote;
  Hub::Values preset;  ///< keys that every rank can get at once
  Hub::OnReport on_report;
  /// Takes what UCX says in a rank's output at level WARN and above, as it is passed on to stderr.
  /// May be empty.
  std::function<void(int rank, const std::string& line)> on_warning;
  std::chrono::milliseconds timeout{60000};  ///< longest time without progress of a rank
};

struct LaunchOutcome {
  enum class State { completed, interrupted, failed };
  State state = State::completed;
  Exit exit = Exit::done;
  std::string reason;  ///< one line; empty when completed
};

/// Runs one launch to its end. When it returns, none of its processes is left, unless a rank's own
/// wrapper hid one by starting another session. A failure is an outcome, never an exception.
LaunchOutcome run_launch(const Launch& launch, Signals& signals,
                         RemoteSupervisor* remote = nullptr);

}  // namespace ucxbench
