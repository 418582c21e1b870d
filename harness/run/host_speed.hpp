#pragma once

#include <optional>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

// What this host gives to ranks beside UCX, looked at around launches, never during one.

/// CPUs for as many ranks of this host as share memory in any of `plans`; empty where none do.
std::vector<int> copying_cpus(const std::vector<LaunchPlan>& plans, const Result& result);

/// For `machine.hosts[0].memory_copy`: how fast this host copies memory on `cpus`, at least one, or
/// copied before as `result` has it.
Json calibrate_host(const Result& result, const std::vector<int>& cpus);

/// Of the CPUs that the first two ranks of this host are bound to, if they are.
std::optional<Processors> processors_of(const LaunchPlan& plan);

}  // namespace ucxbench
