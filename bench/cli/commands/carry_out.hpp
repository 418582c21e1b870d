#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options/options.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/plan/plan.hpp"
#include "harness/core/failure.hpp"
#include "harness/launch/remote.hpp"
#include "harness/result/result.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/runner.hpp"

namespace ucxbench {

/// A run that is over.
struct MeasuredRun {
  std::optional<Result> result;  ///< with the digits that its file has; empty of a dry run
  Exit exit = Exit::done;        ///< of a dry run: what the run would begin with
};

/// Measures plans in one run of `command`, their launches in turns: settles them against this
/// machine, runs the launches, judges what they measured, and writes the run file; nothing else of
/// `run`'s outputs. Cases stand in the order of the plans. With --dry-run it only says what would
/// be measured. Of `run` only tags and outputs count; a plan that listens is the only one. Throws
/// Failure before anything is measured. `kept`: the other hosts of several such calls, which the
/// first one gathers, and to which the caller says goodbye.
MeasuredRun measure_plans(const std::string& command, std::vector<Plan> plans,
                          const Schedule& schedule, const RunOptions& run,
                          const GlobalOptions& global, RemoteSupervisors* kept = nullptr);

/// Writes all that was asked for beside the run file, which is said unless `quiet`, as are why the
/// run ended early and which data were wrong. `table`: on stdout where nothing else is.
Exit write_outputs(const Result& result, const Outputs& outputs, const GlobalOptions& global,
                   bool table = true);

/// A run without cases, complete, with what the rules say of this machine.
Result examine_machine(const std::vector<std::string>& command, const ProbeFor& asked);

/// Writes all of its outputs, the run file among them, or the table.
Exit write_examined(const Result& result, const Outputs& outputs, const GlobalOptions& global);

/// measure_plans, and write_outputs unless it was a dry run.
Exit carry_out(const std::string& command, std::vector<Plan> plans, const Schedule& schedule,
               const RunOptions& run, const GlobalOptions& global);

/// The same of one plan alone, launched as often as `run` says.
Exit carry_out(Plan plan, const RunOptions& run, const GlobalOptions& global);

}  // namespace ucxbench
