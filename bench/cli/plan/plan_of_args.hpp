#pragma once

#include <string>

#include "bench/cli/options/sides.hpp"
#include "bench/cli/plan/plan.hpp"

namespace ucxbench {

/// What a measuring command with its options asks for, "merge -n 2 --rows 1M", as a part of a run
/// of `launches` launches, on the hosts of `sides`, unless null. Throws Failure(Exit::usage), also
/// for what only the whole run can have: outputs, tags, another machine.
Plan plan_of_args(const std::string& args, int launches, const Sides* sides = nullptr);

}  // namespace ucxbench
