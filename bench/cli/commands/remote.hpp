#pragma once

#include <optional>
#include <string>

#include "bench/cli/options/options.hpp"
#include "bench/cli/options/sides.hpp"
#include "bench/cli/plan/plan.hpp"
#include "bench/cli/plan/settle.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/remote.hpp"
#include "harness/result/result.hpp"
#include "harness/run/hosts.hpp"
#include "harness/run/runner.hpp"

namespace ucxbench {

/// Waits for the other hosts, or shells, of a --listen run, for at most 10 minutes, saying on
/// stderr what to type there; or for those that a launcher has started.
RemoteSupervisors wait_for_others(const Plan& plan, const std::string& command);

/// Adds what they have told of themselves: to `machine` where each sits, and the way to them, to
/// `result` their hosts' facts. From now on two of one name are told apart, as in what it returns.
HostNames take_in(const RemoteSupervisors& others, Machine& machine, Result& result);

/// Of those that are on machines of their own. `others` and `machine` as take_in left them;
/// `others` outlive what it returns.
Elsewhere elsewhere(const RemoteSupervisors& others, const Machine& machine);

/// How this side of a --connect run places its ranks.
struct RankPlacement {
  std::string bind;
  std::string wrap;
  std::string net_devices;
};

/// Finds the launcher of this process, if there is one. Where the process is not the first of a
/// run's hosts, it starts its ranks as that says: the status of the run. Throws
/// Failure(Exit::usage), as check_sides does.
std::optional<Exit> follow_if_not_first(Sides& sides, const RankPlacement& placement,
                                        const GlobalOptions& global);

}  // namespace ucxbench
