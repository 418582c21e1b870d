#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/core/failure.hpp"
#include "harness/launch/remote.hpp"

namespace ucxbench {

/// Waits for the other shell or machine of a --listen run, for at most 10 minutes, saying on stderr
/// what to type there.
std::unique_ptr<RemoteSupervisor> wait_for_remote(const std::string& listen,
                                                  const std::string& token_file,
                                                  const std::string& command);

/// How this side of a --connect run places its rank.
struct Placement {
  std::string bind;
  std::string wrap;
  std::string net_devices;
};

/// The connecting side: the listener's plan rules, this side starts its rank as it is told.
Exit follow_listener(const std::string& connect, const std::string& token_file,
                     const Placement& placement);

}  // namespace ucxbench
