#pragma once

#include <optional>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

// What this host gives to ranks beside UCX, looked at around launches, never during one.

/// CPUs for as many ranks of this host as share memory in any of `plans`; empty where none do.
std::vector<int> copying_cpus(const std::vector<LaunchPlan>& plans, const Result& result);

/// Adds how fast this host copies memory on `cpus` to `machine.hosts[0].memory_copy`.
void calibrate_host(Result& result, const std::vector<int>& cpus);

/// Of the CPUs that the first two ranks of this host are bound to, if they are.
std::optional<Processors> processors_of(const LaunchPlan& plan);

}  // namespace ucxbench
