#include "bench/cli/commands/carry_out.hpp"

#include <fmt/format.h>
#include <stdio_ext.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "bench/cli/commands/gate.hpp"
#include "bench/cli/commands/progress_display.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/plan/dry_run.hpp"
#include "bench/cli/plan/estimate.hpp"
#include "bench/cli/plan/settle.hpp"
#include "harness/analysis/annotate.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/core/ending.hpp"
#include "harness/core/print.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/open_files.hpp"
#include "harness/launch/supervisor.hpp"
#include "harness/result/run_file.hpp"
#include "harness/result/words.hpp"
#include "harness/run/duets.hpp"
#include "harness/run/provenance.hpp"

namespace ucxbench {
namespace {

Result describe(const Machine& machine, const RunOptions& run, const GlobalOptions& global) {
  auto result = describe_run(global.command, key_values("--tag", run.tags, ""), machine.found,
                             machine.configuration);
  result.run["asked"] = global.asked;
  return result;
}

void allow_open_files_of(const std::vector<Plan>& plans) {
  for (const auto& plan : plans) {
    const auto ranks = plan.most_ranks();
    allow_open_files(plan.ranks_of_host(ranks), plan.one_peer ? 1 : ranks - 1);
  }
}

void note_crowded(Result& result) {
  const auto found = result.run.find("crowded");
  if (found == result.run.end()) return;
  result.machine["labels"].push_back("oversubscribed");
  for (const auto& crowded : *found) {
    if (crowded.at("progress_mode") == "event") continue;
    const bool threads = crowded.contains("threads");
    print_to(stderr, "progress: {}: polling {} take turns, {}\n", crowded_in_words(crowded),
             threads ? "threads" : "ranks",
             threads ? "their figures are of that" : "--progress-mode event lets them sleep");
  }
}

void check_duets(Result& result, const std::vector<LaunchPlan>& launches, DuetSupervisor& duet) {
  bool any = false;
  for (const auto& plan : launches) {
    if (!plan.unavailable.empty()) continue;
    const auto why = why_no_duet(plan, result);
    any |= why.empty();
    for (const auto index : plan.cases) result.cases[index].in_turns = why;
    if (why.empty() || !duet.only()) continue;
    throw Failure(Exit::usage, fmt::format("--method duet: {}: {}; --method auto measures the rest "
                                           "in turns",
                                           plan.name, why));
  }
  duet.say_any(any);
}

/// Runs every launch, and writes the whole file with what follows from all of them.
Exit run_launches(Result& result, std::vector<LaunchPlan>& launches, const Schedule& schedule,
                  const Execute& execute, const GlobalOptions& global, Around around) {
  ProgressDisplay display(ProgressDisplay::style(global.progress, global.quiet), schedule.max_time);
  display.begins(time_in_words(result, launches, schedule));
  RunFile file(result, [&](const std::string& line) { display.say(line); });
  const auto exit = measure(result, launches, schedule, file, execute, display, std::move(around));
  annotate(result);
  // A report from the file says the same.
  result = file.finish();
  return file.at_its_place() ? exit : worse(exit, Exit::lost);
}

// UCX would have read them, and nobody else says that it does not.
void say_what_is_replaced(const Result& result) {
  for (const auto& [name, value] : result.ucx.at("environment").at("replaced").items()) {
    print_to(stderr,
             "{}={} of the environment is not used: this run's settings decide (-v shows them)\n",
             name, value.get<std::string>());
  }
}

void say_that_devs_are_unused(const std::vector<Plan>& plans) {
  const auto unused = [](const Plan& plan) {
    return !plan.devices.empty() && std::ranges::none_of(plan.memory, [](const auto& kinds) {
      return std::ranges::any_of(kinds, needs_cuda);
    });
  };
  if (std::ranges::none_of(plans, unused)) return;
  print_to(stderr, "--devs is not used: it places GPU memory, which --memory cuda asks for\n");
}

bool none_can_run(const std::vector<LaunchPlan>& launches) {
  return std::ranges::none_of(launches,
                              [](const LaunchPlan& plan) { return plan.unavailable.empty(); });
}

// A run without a figure, of which nobody asked for a file.
void forget_file(Result& result) {
  std::error_code ignored;
  std::filesystem::remove(result.file, ignored);
  std::filesystem::remove(result.file.parent_path(), ignored);  // unless other runs are there
  result.file.clear();
}

void say_how_it_ended(const Result& result, bool quiet) {
  if (!quiet && !result.file.empty()) print_to(stderr, "results: {}\n", result.file.string());
  const auto reason = result.run.at("reason").get<std::string>();
  if (!reason.empty()) {
    print_to(stderr, "ucx-bench: {}\n", reason);
    has_said_why();
  }
  for (const auto& wrong : result.cases) {
    if (wrong.verified.errors > 0) {
      print_to(stderr, "ucx-bench: {}: {}\n", wrong.key, wrong.reason);
    }
  }
}

// After measuring, that it cannot be written is no usage error any more.
Exit write_page(const Outputs& outputs, const Result& result) {
  const auto exit = outputs.write_page(result);
  return exit == Exit::usage ? Exit::lost : exit;
}

}  // namespace

MeasuredRun measure_plans(const std::string& command, std::vector<Plan> plans,
                          const Schedule& schedule, const RunOptions& run,
                          const GlobalOptions& global, RemoteSupervisors* kept) {
  fails_as("");
  run.outputs.check("", {global.config});
  auto machine = look_at_machine(plans);
  check_plans(plans, machine);
  auto result = describe(machine, run, global);

  if (!global.dry_run) allow_open_files_of(plans);
  if (!global.quiet) say_that_devs_are_unused(plans);
  RemoteSupervisors own;
  auto& others = kept == nullptr ? own : *kept;
  if (!global.dry_run && plans.front().hosts > 1 && others.empty()) {
    others = wait_for_others(plans.front(), command);
  }
  Signals signals;
  if (plans.front().launcher) signals.end_with_parent();
  HostNames hosts;
  if (!others.empty()) hosts = take_in(others, machine, result);
  auto launches = settle(std::move(plans), machine, result);
  note_crowded(result);
  const auto duet =
      schedule.duet.empty() ? nullptr : std::make_unique<DuetSupervisor>(schedule.duet, signals);
  if (duet) check_duets(result, launches, *duet);
  if (global.dry_run) {
    const bool shown = run.outputs.write_plan(plan_json(result, launches, schedule, machine.found),
                                              schedule.only_launch.has_value());
    return {std::nullopt, shown ? exit_of_plan(launches) : print_plan(result, launches, schedule)};
  }

  if (!global.quiet) say_what_is_replaced(result);
  if (global.verbose) explain_settings(launches);
  result.file = run.outputs.run_file(command, result);
  const auto execute = [&](const Launch& launch) { return run_launch(launch, signals, others); };
  Around around{duet.get(), std::move(hosts)};
  if (!others.empty()) around.elsewhere = elsewhere(others, machine);
  auto exit = run_launches(result, launches, schedule, execute, global, std::move(around));
  exit = worse(exit, check_required(result, launches));
  for (const auto& other : own) {
    other->say_goodbye(exit, result.run.at("reason").get<std::string>());
  }
  judge_anew(result);
  if (none_can_run(launches)) {
    if (run.outputs.keeps_unasked()) forget_file(result);
    if (!global.quiet)
      print_to(stderr, "nothing was measured; what can run here: ucx-bench list transports\n");
  }
  return {std::move(result), exit};
}

// A table that cannot be printed changes nothing: what was measured is in the run file.
void give_up_stdout(const Result& result) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (errno != EPIPE) {
    print_to(stderr, "ucx-bench: the table cannot be written to stdout: {}; {}\n",
             std::strerror(errno), command_line({"ucx-bench", "report", result.file.string()}));
  }
  ::__fpurge(stdout);
  std::clearerr(stdout);
}

Exit write_outputs(const Result& result, const Outputs& outputs, const GlobalOptions& global,
                   bool table) {
  const auto written = outputs.write(result, table ? global.table() : std::nullopt);
  if (!outputs.takes_stdout()) give_up_stdout(result);
  say_how_it_ended(result, global.quiet);
  // Who ended the run waits for nothing more.
  if (result.run.value("state", "") == "interrupted") return written;
  return worse(written, write_page(outputs, result));
}

Result examine_machine(const std::vector<std::string>& command, const ProbeFor& asked) {
  const auto found = probe(asked);
  auto result = describe_run(command, {}, found,
                             find_ucx_conf(current_environment(), {.library = found.ucx.library}));
  result.run["finished_utc"] = utc_now();
  result.run["state"] = "complete";
  result.findings = findings_of(result);
  return result;
}

Exit write_examined(const Result& result, const Outputs& outputs, const GlobalOptions& global) {
  const auto written = outputs.write(result, global.table());
  outputs.write_run(result);
  return worse(written, outputs.write_page(result));
}

Exit carry_out(const std::string& command, std::vector<Plan> plans, const Schedule& schedule,
               const RunOptions& run, const GlobalOptions& global) {
  const auto measured = measure_plans(command, std::move(plans), schedule, run, global);
  if (!measured.result) return measured.exit;
  return worse(measured.exit, write_outputs(*measured.result, run.outputs, global));
}

Exit carry_out(Plan plan, const RunOptions& run, const GlobalOptions& global) {
  const auto command = plan.benchmark;
  Schedule schedule;
  schedule.launches = run.launches;
  return carry_out(command, {std::move(plan)}, schedule, run, global);
}

}  // namespace ucxbench
