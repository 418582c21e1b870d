#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/cli/commands.hpp"
#include "bench/cli/suite_file.hpp"
#include "harness/analysis/comparison.hpp"
#include "harness/core/of_option.hpp"
#include "harness/launch/shell_words.hpp"

namespace ucxbench {
namespace {

// Fewer are too few to tell a change from chance, however few the cases are.
constexpr int least_launches_of_a_suite = 10;
constexpr double usual_alpha = 0.01;             // of `compare`
constexpr std::size_t most_metrics_of_case = 5;  // that `compare` looks at; cold has so many

void refuse_what_is_the_suites(const CLI::App& command) {
  const auto given = [&](const std::string& name) {
    const auto* option = command.get_option_no_throw("--" + name);
    return option != nullptr && option->count() > 0;
  };
  for (const auto* name : {"launches", "json", "csv", "markdown", "gbench", "smaller-is-better",
                           "bigger-is-better", "bencher", "trace", "transfers", "tag"}) {
    if (!given(name)) continue;
    throw Failure(Exit::usage,
                  fmt::format("--{} is for the whole suite, not for a case: leave it out", name));
  }
  for (const auto* name : {"listen", "connect"}) {
    if (!given(name)) continue;
    throw Failure(Exit::usage,
                  fmt::format("--{}: the ranks of a suite are on one machine: leave it out", name));
  }
}

// In a program of its own, so that cases share no options.
Plan plan_of_args(const std::string& args, int launches) {
  CLI::App app{"", "ucx-bench"};
  const std::vector<AddedCommand> commands = {add_pingpong(app), add_p2p(app), add_cold(app),
                                              add_transpose(app), add_merge(app)};
  app.require_subcommand(0, 1);
  auto words = split_shell_words(args);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    throw Failure(Exit::usage, "--help is no case: leave it out");
  } catch (const CLI::ParseError& error) {
    throw Failure(Exit::usage, explain(error, app));
  }
  const auto parsed = std::ranges::find_if(
      commands, [](const AddedCommand& command) { return command.app->parsed(); });
  if (parsed == commands.end()) {
    throw Failure(Exit::usage, "no command: begin with pingpong, p2p, cold, transpose or merge");
  }
  refuse_what_is_the_suites(*parsed->app);
  fill_unset(*parsed->app, {{"launches", std::to_string(launches)}});
  return parsed->plan();
}

std::vector<Plan> plans_of(const Suite& suite, int launches) {
  std::vector<Plan> plans;
  for (const auto& one : suite.cases) {
    plans.push_back(of_option(one.origin, [&] { return plan_of_args(one.args, launches); }));
    plans.back().name = one.name;
    plans.back().origin = one.origin;
  }
  return plans;
}

// As far as that can be told before the machine is looked at.
std::size_t count_cases(const std::vector<Plan>& plans) {
  std::size_t count = 0;
  for (const auto& plan : plans) {
    for (const auto ranks : plan.ranks) {
      const CasePlace place{
          .transports = {"tcp"}, .memory = {"host", "host"}, .net_devices = "lo", .ranks = ranks};
      count += plan.sets.size() * plan.memory.size() * plan.cases(place).size();
    }
  }
  return count;
}

Exit run_suite(const std::string& file, const RunOptions& run, const GlobalOptions& global) {
  const auto suite = read_suite(file);
  RunSetup setup;
  setup.launches = suite.launches.value_or(least_launches_of_a_suite);
  setup.max_time = suite.max_time;
  setup.canary = true;
  auto plans = plans_of(suite, setup.launches);
  const auto cases = count_cases(plans);
  const auto needed = static_cast<int>(launches_needed(cases * most_metrics_of_case, usual_alpha));
  if (!suite.launches && setup.launches < needed) {
    setup.launches = needed;
    plans = plans_of(suite, needed);
  }
  if (!global.quiet) {
    fmt::print(stderr, "{}: {} cases, {} launches of each; compare can give a verdict from {} on\n",
               file, cases, setup.launches, needed);
  }
  return carry_out_together("suite", std::move(plans), std::move(setup), run, global);
}

}  // namespace

AddedCommand add_suite(CLI::App& app) {
  auto* command = app.add_subcommand(
      "suite", "cases of several commands, their launches in turns: one run, for compare");
  const auto file = std::make_shared<std::string>();
  const auto run = std::make_shared<RunOptions>();
  command
      ->add_option("file", *file,
                   "[[case]] args = \"pingpong --sizes 8\" …, launches, max_time = \"10min\"")
      ->required()
      ->type_name("FILE.toml");
  run->add_outputs(*command);
  run->outputs.add_transfer_options(*command);
  return {command,
          [file, run](const GlobalOptions& global) { return run_suite(*file, *run, global); }};
}

}  // namespace ucxbench
