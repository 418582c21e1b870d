#pragma once

#include <vector>

#include "bench/cli/commands/commands.hpp"

namespace ucxbench {

/// The command of each benchmark, by its description.
std::vector<AddedCommand> add_benchmarks(CLI::App& app);

}  // namespace ucxbench
