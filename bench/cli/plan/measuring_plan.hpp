#pragma once

#include "bench/cli/options/measuring_options.hpp"
#include "bench/cli/plan/plan.hpp"

namespace ucxbench {

/// What the options of a command that was parsed ask for, on the hosts of `sides`, unless null.
/// Throws Failure(Exit::usage).
Plan plan_of(const MeasuringCommand& command, const Sides* sides = nullptr);

}  // namespace ucxbench
