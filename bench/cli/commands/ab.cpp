#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

#include "bench/cli/commands/ab_run.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/comparison_options.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/outputs.hpp"
#include "bench/cli/options/run_options.hpp"
#include "bench/cli/options/ucx_prefix.hpp"
#include "bench/cli/plan/suite_plan.hpp"
#include "harness/core/files.hpp"
#include "harness/core/names.hpp"
#include "harness/core/of_option.hpp"
#include "harness/core/print.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

struct AbOptions {
  std::string file;
  std::string base, now;
  std::vector<std::string> base_env, new_env;
  std::string base_ucx, new_ucx;
  std::string folder;
  std::string method = "auto";
  std::string max_time;
  ComparisonOptions comparison;
};

constexpr Names<AbMethod, 3> ab_methods = {
    {{AbMethod::automatic, "auto", "duets where possible, else turns"},
     {AbMethod::duet, "duet", "refuse what cannot be one"},
     {AbMethod::turns, "turns"}}};

Variables environment_given(const std::string& option, const std::vector<std::string>& given) {
  auto variables = key_values(option, given, "");
  for (const auto& [name, value] : variables) {
    const bool sound =
        std::ranges::all_of(name, [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; });
    if (!sound) {
      throw Failure(Exit::usage, fmt::format("{} '{}': expected KEY=VALUE, KEY of letters, digits "
                                             "and _",
                                             option, name));
    }
    if (!name.starts_with("UCXBENCH_")) continue;
    throw Failure(Exit::usage, fmt::format("{} {}: what ucx-bench does stands in the suite, the "
                                           "same for both; leave it out",
                                           option, name));
  }
  return variables;
}

AbSide side_of(const std::string& name, const std::string& program,
               const std::vector<std::string>& environment, const std::string& prefix) {
  AbSide side{.name = name,
              .program = program.empty() ? own_program().string() : program,
              .added = environment_given("--" + name + "-env", environment)};
  if (prefix.empty()) return side;
  side.ucx_asked = fmt::format("--{}-ucx {}", name, prefix);
  side.ucx_libraries = ucx_libraries(side.ucx_asked, prefix);
  for (const auto& [variable, value] : ucx_environment(side.ucx_libraries)) {
    if (side.added.emplace(variable, value).second) continue;
    throw Failure(Exit::usage, fmt::format("--{}-env {}: {} sets it; give one of them", name,
                                           variable, side.ucx_asked));
  }
  return side;
}

std::string words_of(const AbSide& side) {
  auto text = side.name + ": ";
  for (const auto& [name, value] : variables_of(side)) text += fmt::format("{}={} ", name, value);
  return fmt::format("{}{}\n  {}", text, side.program, ucx_in_words(side));
}

Exit run_ab(const AbOptions& o, const GlobalOptions& global) {
  o.comparison.check({o.file});
  auto base = side_of("base", o.base, o.base_env, o.base_ucx);
  auto now = side_of("new", o.now, o.new_env, o.new_ucx);
  check_difference(base, now);
  const auto planned = plan_suite(o.file);
  AbExtent extent{.launches = planned.launches,
                  .most = std::min(launches_of_undecided * planned.launches, most_launches),
                  .of_each_side = planned.max_time,
                  .demands = o.comparison.demands()};
  if (!o.max_time.empty()) {
    extent.of_all = of_option("--max-time", [&] { return parse_duration(o.max_time); });
  }
  AbRun run(o.file, extent, parse_name(ab_methods, o.method, "--method: ", "method"), global);
  Signals signals;
  const auto answers = run.ask(base, now, signals);
  if (global.dry_run) {
    const auto time = run.whole_time();
    print_to(stdout, "{}\n{}{}\n{}{}{}", words_of(base), answers[0], words_of(now), answers[1],
             time, time.empty() ? "" : "\n");
    return Exit::done;
  }
  base.file = new_run_file(o.folder, "ab-base");
  now.file = new_run_file(o.folder, "ab-new");
  if (!global.quiet) {
    print_to(stderr, "{}\n{}\n{}: {} cases, {} launches of each side {}; a verdict takes {}\n",
             words_of(base), words_of(now), o.file, planned.cases, planned.launches,
             run.side_by_side() ? "as duets" : "in turns",
             run.side_by_side() ? planned.needed_duets : planned.needed);
    if (const auto time = run.whole_time(); !time.empty()) print_to(stderr, "{}\n", time);
  }
  const auto exit = run.measure(base, now, signals);
  for (const auto* side : {&base, &now}) {
    if (side->result && !global.quiet) print_to(stderr, "results: {}\n", side->file.string());
  }
  if (!base.result || !now.result) return exit;
  return worse(exit, o.comparison.judge(*base.result, *now.result, global));
}

}  // namespace

AddedCommand add_ab(CLI::App& app) {
  auto* command = app.add_subcommand(
      "ab", "compare two builds or environments, measured at the same time, or interleaved");
  add_examples(*command, {"ab suite.toml --new-env UCX_RNDV_THRESH=16384",
                          "ab suite.toml --base ../before/ucx-bench --fail-on regression"});
  const auto options = std::make_shared<AbOptions>();
  auto& o = *options;
  command->add_option("file", o.file, "the suite, as for suite")
      ->required()
      ->type_name("FILE.toml");
  command->add_option("--base", o.base, "the build to compare with; this one if not given")
      ->type_name("PROGRAM");
  command->add_option("--new", o.now, "the build to judge; this one if not given")
      ->type_name("PROGRAM");
  const auto environment = [&](const char* name, std::vector<std::string>& given,
                               const char* help) {
    command->add_option(name, given, help)->type_name("KEY=VALUE")->allow_extra_args(false);
  };
  const auto prefix = [&](const char* name, std::string& given, const char* help) {
    command->add_option(name, given, help)->type_name("PREFIX");
  };
  prefix("--base-ucx", o.base_ucx, "an installation of UCX, for the base: the prefix of its lib");
  prefix("--new-ucx", o.new_ucx, "the same, for the new side");
  environment("--base-env", o.base_env, "a variable of the base's environment; repeatable");
  environment("--new-env", o.new_env, "a variable of the new side's environment; repeatable");
  command
      ->add_option("--folder", o.folder, "where the two run files are kept, else ucx-bench-runs/")
      ->type_name("FOLDER");
  command->add_option("--method", o.method, help_on(ab_methods))
      ->type_name("METHOD")
      ->capture_default_str();
  command
      ->add_option("--max-time", o.max_time,
                   "limit of the whole command, as 5min: no launch begins that would end later; "
                   "undecided duets go on until then")
      ->type_name("TIME");
  o.comparison.add_options(*command, false);
  o.comparison.allow_other_environments();
  return {command, [options](const GlobalOptions& global) { return run_ab(*options, global); }};
}

}  // namespace ucxbench
