#pragma once

#include <string>

#include "bench/cli/plan/plan.hpp"
#include "bench/cli/plan/settle.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/launcher.hpp"
#include "harness/launch/remote.hpp"
#include "harness/result/result.hpp"
#include "harness/run/hosts.hpp"

namespace ucxbench {

/// Waits for the other hosts, or shells, of a --listen run, for at most 10 minutes, saying on
/// stderr what to type there; or for those that a launcher has started.
RemoteSupervisors wait_for_others(const Plan& plan, const std::string& command);

/// Adds what they have told of themselves: to `machine` where each sits, and the way to them, to
/// `result` their hosts' facts. From now on two of one name are told apart, as in what it returns.
HostNames take_in(const RemoteSupervisors& others, Machine& machine, Result& result);

/// How this side of a --connect run places its ranks.
struct Placement {
  std::string bind;
  std::string wrap;
  std::string net_devices;
};

/// The connecting side: the listener's plan rules, this side starts its ranks as it is told.
Exit follow_listener(const std::string& connect, const std::string& token_file,
                     const Placement& placement);

/// The same of a process that a launcher has started beside the first one, which listens.
Exit follow_first(Launcher& launcher, const std::string& listen, const std::string& token_file,
                  const Placement& placement);

}  // namespace ucxbench
