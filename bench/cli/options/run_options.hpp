#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/options/outputs.hpp"
#include "harness/core/field.hpp"
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

/// What every measuring command asks: how processes are started, where results go.
struct RunOptions {
  int launches = 6;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::string wrap;
  std::string bind = "auto";
  std::vector<std::string> tags;
  Outputs outputs;

  /// --tag and outputs alone, of a command whose launches are described elsewhere.
  void add_outputs(CLI::App& command);

  /// For `ranks`, `local_ranks` of which on this machine, with `threads` busy threads each; UCX
  /// settings are the caller's. Throws Failure(Exit::usage).
  CommandSetup setup(const std::string& benchmark, int ranks, int local_ranks, int threads) const;
};

/// All but the outputs.
const std::vector<Field>& run_fields();

/// "KEY=VALUE" entries, each of which begins with `prefix`. Throws Failure(Exit::usage), naming
/// `option`.
Variables key_values(const std::string& option, const std::vector<std::string>& given,
                     std::string_view prefix);

}  // namespace ucxbench
