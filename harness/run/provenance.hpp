#pragma once

#include <string>
#include <vector>

#include "harness/launch/environment.hpp"
#include "harness/result/result.hpp"
#include "harness/run/probe.hpp"

namespace ucxbench {

/// "2026-11-21T03:26:00Z".
std::string utc_now();

/// A result without cases: who ran what, with which program, where, on which UCX.
Result describe_run(const std::vector<std::string>& command, const Variables& tags,
                    const Probe& found, const std::vector<UcxConf>& configuration_files);

/// What a launcher has given to this process, for `machine.hosts[].launcher`: its name, and of this
/// one process the CPUs and the variables that choose devices. Null where there is no launcher.
Json describe_launcher();

/// For `machine.labels`, of what describe_host says.
std::vector<std::string> labels_of_host(const Json& facts);

}  // namespace ucxbench
