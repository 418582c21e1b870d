#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/launch/process.hpp"
#include "harness/launch/remote.hpp"
#include "harness/launch/signals.hpp"
#include "harness/launch/supervisor.hpp"

namespace ucxbench {

/// The commands of so many ranks from what Launch::told held for this host. May throw Failure.
using CommandsFor = std::function<std::vector<RankCommand>(const nlohmann::json& told, int ranks)>;

/// What RemoteSupervisor::answer gives to who has asked. May throw Failure, which ends this side.
using Answer = std::function<nlohmann::json(const nlohmann::json& question)>;

/// The connecting side of a run: starts this host's ranks whenever the listening supervisor says
/// so, passes on what they tell each other, and reports a rank that dies or stops. Returns, without
/// any rank left, what the listener gave as its end, or why this side could not go on.
LaunchOutcome follow_launches(RemoteSupervisor& remote, const CommandsFor& commands_for,
                              const Answer& answer, Signals& signals);

}  // namespace ucxbench
