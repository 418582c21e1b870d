#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/report.hpp"

namespace ucxbench {

/// The options before the command.
struct GlobalOptions {
  bool quiet = false;
  bool verbose = false;
  bool dry_run = false;
  bool all_rows = false;
  std::string color = "auto";
  std::string progress = "auto";
  std::string config;
  std::vector<std::string> command;  ///< as typed, without secrets
  std::vector<std::string> asked;    ///< given_words of the command

  /// How a table is shown: in colours as NO_COLOR, CLICOLOR_FORCE and TERM=dumb say, in brief on a
  /// terminal. Nullopt with --quiet.
  std::optional<RenderOptions> table() const;
};

/// For an option's check: one of these names.
CLI::Validator one_of(const std::vector<std::string>& names);

/// Likewise: a number, both bounds among them.
CLI::Validator in_range(double least, double most);

/// "UCXBENCH_WARMUP_RUNS" of "warmup-runs".
std::string twin_of(const std::string& long_option);

/// Whether the environment gives any option a value: else the twins need not be added.
bool has_environment_twins();

/// Gives every option of `app` and its commands its environment twin, UCXBENCH_<LONG_OPTION>, and
/// refuses, with Failure(Exit::usage), UCXBENCH_* variables that are nobody's.
void add_environment_twins(CLI::App& app);

/// Of the environment's variables that are an option's, but none of this command: a line for each,
/// that it is not used.
std::vector<std::string> unused_twins(const CLI::App& app, const CLI::App& command);

/// Fills what neither the command line nor the environment gave from a TOML file: keys are long
/// option names, in a table named after the command or at the top. Throws Failure(Exit::usage) for
/// an unreadable file or an unknown name.
void apply_config_file(CLI::App& app, CLI::App& command, const std::string& file);

/// A command and all options that it was given, wherever: "pingpong", "--sizes=8", "--strict".
std::vector<std::string> given_words(const CLI::App& command);

/// Gives options of `command` that have no value yet, by their long names, this one. The values are
/// ours, and right.
void fill_unset(CLI::App& command, const std::map<std::string, std::string>& values);

/// Throws Failure(Exit::usage) where an option took the next one for its value, as in
/// "--html --csv run.csv".
void refuse_options_as_values(const CLI::App& app, const CLI::App& command);

/// The message of a CLI11 error, with the nearest option for one that is unknown.
std::string explain(const CLI::ParseError& error, const CLI::App& app);

}  // namespace ucxbench
