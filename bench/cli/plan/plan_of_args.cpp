#include "bench/cli/plan/plan_of_args.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "bench/cli/options/options.hpp"
#include "bench/cli/plan/measuring_plan.hpp"
#include "harness/launch/shell_words.hpp"
#include "harness/report/report.hpp"

namespace ucxbench {
namespace {

void refuse_what_is_the_suites(const CLI::App& command) {
  const auto given = [&](const std::string& name) {
    const auto* option = command.get_option_no_throw("--" + name);
    return option != nullptr && option->count() > 0;
  };
  std::vector<std::string> names = {"launches", "tag", "html", "listen", "connect", "hosts"};
  for (const auto& [name, format] : formats()) names.push_back(name);
  for (const auto& name : names) {
    if (!given(name)) continue;
    throw Failure(Exit::usage,
                  fmt::format("--{} is for the whole suite, not for a case: leave it out", name));
  }
}

}  // namespace

Plan plan_of_args(const std::string& args, int launches, const Sides* sides) {
  CLI::App app{"", "ucx-bench"};
  const auto commands = add_measuring_commands(app);
  app.require_subcommand(0, 1);
  auto words = split_shell_words(args);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    throw Failure(Exit::usage, "--help is no case: leave it out");
  } catch (const CLI::ParseError& error) {
    for (const auto& command : commands) add_options(*command.app, *command.options);
    throw Failure(Exit::usage, explain(error, app));
  }
  const auto parsed = std::ranges::find_if(
      commands, [](const MeasuringCommand& command) { return command.app->parsed(); });
  if (parsed == commands.end()) {
    std::vector<std::string> names;
    for (const auto& command : commands) names.push_back(command.app->get_name());
    throw Failure(Exit::usage,
                  fmt::format("no command: begin with one of {}", fmt::join(names, ", ")));
  }
  refuse_options_as_values(app, *parsed->app);
  refuse_what_is_the_suites(*parsed->app);
  fill_unset(*parsed->app, {{"launches", std::to_string(launches)}});
  return plan_of(*parsed, sides);
}

}  // namespace ucxbench
