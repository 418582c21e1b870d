#pragma once

#include <vector>

#include "harness/core/failure.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/runner.hpp"

namespace ucxbench {

/// What a run of these plans would begin with: Exit::cannot_run where nothing can run, or not all
/// of what must.
Exit exit_of_plan(const std::vector<LaunchPlan>& plans);

/// --dry-run: prints what would be measured, with which settings and why, and how long it takes.
/// Returns exit_of_plan.
Exit print_plan(const Result& result, const std::vector<LaunchPlan>& plans,
                const Schedule& schedule);

inline constexpr const char* plan_schema = "ucx-bench/plan/1";

/// The same as data, for other programs: {"schema", "build", "program" (its file), "ucx"
/// ({"version", "library", "modules" (folders and files that were loaded), "settings" (every
/// variable that it knows, with its value)}), "libraries" ({NAME: {"path", "build"}}, all that are
/// loaded), "variables" (of the environment, which change what UCX or the program does), "cpus"
/// (that it may use), "replaced" (variables of the environment that the cases set themselves),
/// "launches", "seconds" (of this run; null where nothing can run), "at_least" (some cases take as
/// long as their data take to move), "plans": [{"name", "unavailable", "settings", "cases"}]}.
/// Unknown is null.
Json plan_json(const Result& result, const std::vector<LaunchPlan>& plans, const Schedule& schedule,
               const Probe& found);

/// --verbose: which settings are made, and why, on stderr.
void explain_settings(const std::vector<LaunchPlan>& plans);

}  // namespace ucxbench
