#pragma once

#include <vector>

#include "harness/core/failure.hpp"
#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

/// The gate of --require: every measured case of a plan that requires transports had at least 99 %
/// of its payload carried by these, of nvlink over NVLinks (unmet_by). What cannot be told does not
/// meet it. Prints one line for each case that fails; returns Exit::gate
/// then, else Exit::done.
Exit check_required(const Result& result, const std::vector<LaunchPlan>& plans);

}  // namespace ucxbench
