#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/cli/commands/carry_out.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/commands/remote.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/plan/suite_plan.hpp"
#include "harness/core/print.hpp"

namespace ucxbench {
namespace {

struct SuiteOptions {
  std::string file;
  std::string launch;
  std::string duet;
  std::vector<std::string> only;
  Sides sides;
  RunOptions run;
};

void leave_out_others(std::vector<Plan>& plans, const std::vector<std::string>& only) {
  if (only.empty()) return;
  for (auto& plan : plans) {
    plan.cases = [all = plan.cases, only](const Place& place, int cpus) {
      auto cases = all(place, cpus);
      std::erase_if(cases, [&](const Case& of) { return std::ranges::count(only, of.key) == 0; });
      return cases;
    };
  }
}

Exit run_suite(SuiteOptions& o, const GlobalOptions& global) {
  const RankPlacement usual{.bind = "auto", .wrap = "", .net_devices = "auto"};
  if (const auto exit = follow_if_not_first(o.sides, usual, global)) return *exit;
  if (o.file.empty()) throw Failure(Exit::usage, "suite: FILE.toml is missing");
  o.run.outputs.check("", {o.file});
  Schedule schedule;
  schedule.canary = true;
  schedule.duet = o.duet;
  std::optional<int> launches;
  if (!o.launch.empty()) {
    const auto [number, of] = parse_one_launch(o.launch);
    schedule.only_launch = number - 1;
    launches = of;
  }
  auto planned = plan_suite(o.file, launches, &o.sides);
  leave_out_others(planned.plans, o.only);
  schedule.launches = planned.launches;
  if (!schedule.only_launch) schedule.max_time = planned.max_time;
  if (!global.quiet) {
    print_to(stderr, "{}: {} cases, {} launches of each; compare can give a verdict from {} on\n",
             o.file, planned.cases, planned.launches, planned.needed);
  }
  return carry_out("suite", std::move(planned.plans), schedule, o.run, global);
}

}  // namespace

AddedCommand add_suite(CLI::App& app) {
  auto* command =
      app.add_subcommand("suite", "run cases of several commands, interleaved, as one run");
  add_examples(*command, {"suite suite.toml --json new.json"});
  const auto options = std::make_shared<SuiteOptions>();
  auto& o = *options;
  command
      ->add_option("file", o.file,
                   "[[case]] args = \"pingpong --sizes 8\" …, launches, max_time = \"10min\"")
      ->type_name("FILE.toml");
  auto* launch =
      command
          ->add_option("--launch", o.launch, "only this one, as ab does: 3/10 is the third of ten")
          ->type_name("K/N");
  command->add_option("--duet", o.duet, "beside the other side, as ab does")
      ->type_name("SIDE:FILE")
      ->needs(launch);
  command
      ->add_option("--only", o.only,
                   "cases of that launch by their keys, as ab does with what is not decided")
      ->type_name("KEY")
      ->allow_extra_args(false)
      ->needs(launch);
  add_sides(*command, o.sides);
  o.run.add_outputs(*command);
  o.run.outputs.add_transfer_options(*command);
  return {command, [options](const GlobalOptions& global) { return run_suite(*options, global); }};
}

}  // namespace ucxbench
