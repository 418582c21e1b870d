#pragma once

#include <vector>

#include "harness/core/failure.hpp"
#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"
#include "harness/run/runner.hpp"

namespace ucxbench {

/// --dry-run: prints what would be measured, with which settings and why, and how long it takes.
/// Returns what the run would begin with: Exit::cannot_run where nothing can run, or not all of
/// what must.
Exit print_plan(const Result& result, const std::vector<LaunchPlan>& plans,
                const Schedule& schedule);

/// --verbose: which settings are made, and why, on stderr.
void explain_settings(const std::vector<LaunchPlan>& plans);

}  // namespace ucxbench
