#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/options/outputs.hpp"
#include "harness/core/field.hpp"
#include "harness/launch/environment.hpp"
#include "harness/run/place.hpp"

namespace ucxbench {

/// What every measuring command asks: how processes are started, where results go.
struct RunOptions {
  int launches = usual_launches;
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  std::string wrap;
  std::string bind = "auto";
  bool no_memory_copy = false;
  std::vector<std::string> tags;
  Outputs outputs;

  /// --tag and outputs alone, of a command whose launches are described elsewhere.
  void add_outputs(CLI::App& command);
};

/// All but the outputs.
const std::vector<Field>& run_fields();

/// "KEY=VALUE" entries, each of which begins with `prefix`. Throws Failure(Exit::usage), naming
/// `option`.
Variables key_values(const std::string& option, const std::vector<std::string>& given,
                     std::string_view prefix);

}  // namespace ucxbench
