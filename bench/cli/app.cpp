#include "bench/cli/app.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "bench/cli/commands/benchmarks.hpp"
#include "bench/cli/commands/commands.hpp"
#include "bench/cli/options/help.hpp"
#include "bench/cli/options/options.hpp"
#include "harness/core/build_info.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/literal.hpp"
#include "harness/core/print.hpp"
#include "harness/core/secret.hpp"
#include "harness/run/probe.hpp"
#include "harness/transports/resources.hpp"

namespace ucxbench {
namespace {

std::string version_text() {
  const auto& build = build_info();
  auto text = fmt::format("ucx-bench {} (commit {}{}, {}, {})\n", build.version, build.commit,
                          build.dirty ? ", modified" : "", build.compiler, build.build_type);
  try {
    const auto ucx = probe().ucx;
    text += fmt::format("UCX {} ({}), built against {}\n", ucx.version, ucx.library, ucx.headers);
  } catch (const Failure& failure) {
    text += fmt::format("UCX: {}\n", failure.what());
  }
  return text;
}

Exit fail(Exit exit, const std::string& what) {
  // A name that was given may hold a line of its own.
  print_to(stderr, "ucx-bench: {}\n", on_one_line(what));
  return exit;
}

/// Of a program that is started without a command.
constexpr const char* first_words =
    "ucx-bench measures and explains UCX communication between processes, on one machine or "
    "several.\n"
    "\n"
    "  ucx-bench doctor                      is this machine fit to measure on?\n"
    "  ucx-bench topo                        how are its CPUs, GPUs and NICs connected?\n"
    "  ucx-bench pingpong                    latency and bandwidth over the message size\n"
    "  ucx-bench p2p -n 4 --html p2p.html    bandwidth of every pair of ranks, as a page\n"
    "  ucx-bench merge                       a distributed join: how fast, and what limits it\n"
    "\n"
    "ucx-bench --help lists all commands, ucx-bench COMMAND --help their options.\n";

void add_globals(CLI::App& app, GlobalOptions& global) {
  app.add_flag("-q,--quiet", global.quiet, "no progress and no table");
  app.add_flag("-v,--verbose", global.verbose,
               "say which settings are made and why, and every finding");
  app.add_flag("--all-rows", global.all_rows, "every row of a table, on a terminal too");
  app.add_option("--color", global.color, "colours in the table")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--progress", global.progress, "progress on stderr")
      ->check(one_of({"auto", "bar", "plain", "never"}))
      ->capture_default_str();
  app.add_option("--config", global.config, "options from a TOML file")->type_name("FILE.toml");
  app.add_flag("--dry-run", global.dry_run, "say what would be measured, and end");
}

Exit run(int argc, char** argv) {
  CLI::App app{"Measures and explains UCX communication between processes", "ucx-bench"};
  GlobalOptions global;
  global.command = without_secrets(std::vector<std::string>(argv, argv + argc));
  bool version = false;
  format_help(app);
  add_globals(app, global);
  app.add_flag("--version", version, "this program's commit and the UCX that it runs on");
  app.require_subcommand(0, 1);
  app.fallthrough();  // global options may also stand behind the command
  auto commands = add_benchmarks(app);
  for (auto* add :
       {add_suite, add_ab, add_versions, add_tune, add_check, add_soak, add_topo, add_copies,
        add_doctor, add_advise, add_list, add_report, add_compare, add_plot, add_dashboard}) {
    commands.push_back(add(app));
  }
  const auto complete = [&] {
    for (const auto& command : commands) {
      if (command.complete) command.complete();
    }
  };
  try {
    if (has_environment_twins()) {
      complete();
      add_environment_twins(app);
    }
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_to(stdout, "{}", app.help());
    return Exit::done;
  } catch (const CLI::ParseError& error) {
    complete();  // which command has an option that this one has not
    const auto begun = app.get_subcommands();
    return fail(Exit::usage, fmt::format("{} (see ucx-bench {}--help)", explain(error, app),
                                         begun.empty() ? "" : begun.front()->get_name() + " "));
  }
  if (version) {
    print_to(stdout, "{}", version_text());
    return Exit::done;
  }
  for (const auto& command : commands) {
    if (!command.app->parsed()) continue;
    refuse_options_as_values(app, *command.app);
    apply_config_file(app, *command.app, global.config);
    global.asked = without_secrets(given_words(*command.app));
    if (!global.quiet) {
      for (const auto& line : unused_twins(app, *command.app)) {
        print_to(stderr, "{}\n", line);
      }
    }
    return command.run(global);
  }
  print_to(stderr, "{}", first_words);
  return Exit::usage;
}

// A verdict or settings that nobody got must not end with status 0. Who has closed the pipe
// (`| head`) has got what it wanted.
Exit with_stdout_written(Exit exit) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit;
  if (errno == EPIPE) return exit;
  return worse(exit,
               fail(Exit::lost, std::string("cannot write to stdout: ") + std::strerror(errno)));
}

}  // namespace

Exit run_command_line(int argc, char** argv) {
  try {
    return with_stdout_written(run(argc, argv));
  } catch (const Failure& failure) {
    return fail(failure.exit(), failure.what());
  } catch (const std::bad_alloc&) {
    return fail(Exit::lost, "out of memory");
  } catch (const std::exception& error) {
    return fail(Exit::lost, fmt::format("unexpected: {}", error.what()));
  }
}

}  // namespace ucxbench
