#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/options/outputs.hpp"
#include "harness/launch/environment.hpp"

namespace ucxbench {

/// How the processes of a command are started.
struct CommandSetup {
  std::string benchmark;
  int ranks = 2;  ///< the most of any launch
  std::chrono::milliseconds timeout{60'000};
  std::string wrap;
  std::vector<std::vector<int>> cpus;  ///< per rank; empty: not pinned
  std::optional<int> near_cpus{};      ///< --bind auto: how many each wants near to its data
  Variables ucx;                       ///< --ucx
  bool strict = false;                 ///< a set that cannot run is a failure of the run
};

/// What every measuring command asks: how many processes, how each is started, where results go.
/// As typed; parsed, and refused, before anything is started.
struct RunOptions {
  int ranks = 2;
  int launches = 6;
  std::string timeout = "60s";
  std::string wrap;
  std::string bind = "auto";
  std::vector<std::string> tags;
  Outputs outputs;

  /// One number of ranks; `help` says which ones the command takes.
  void add_ranks(CLI::App& command, const std::string& help);
  void add_options(CLI::App& command);
  /// Apart, so that they stand last in the help.
  void add_outputs(CLI::App& command);

  /// Of `local_ranks` on this machine, with `threads` busy threads each; UCX settings are the
  /// caller's. Throws Failure(Exit::usage).
  CommandSetup setup(const std::string& benchmark, int local_ranks, int threads) const;
};

/// "KEY=VALUE" entries, each of which begins with `prefix`. Throws Failure(Exit::usage), naming
/// `option`.
Variables key_values(const std::string& option, const std::vector<std::string>& given,
                     std::string_view prefix);

}  // namespace ucxbench
