#pragma once

#include <vector>

#include "bench/cli/plan/machine.hpp"
#include "bench/cli/plan/plan.hpp"
#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

/// Settles what was asked against what the machine has: each plan's sets x memories x numbers of
/// ranks, in this order, with their environment, and why some cannot run here. Their cases, which
/// stand in the order of the plans, and how the choices were made go into `result`. Nothing is
/// started. Throws Failure(Exit::usage), also where two cases would have one key.
std::vector<LaunchPlan> settle(std::vector<Plan> plans, const Machine& machine, Result& result);

}  // namespace ucxbench
