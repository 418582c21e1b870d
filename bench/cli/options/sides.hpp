#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/field.hpp"
#include "harness/launch/launcher.hpp"

namespace ucxbench {

/// Which side of a run on several hosts this process is.
struct Sides {
  std::optional<std::string> listen, connect;
  std::optional<int> hosts, ranks_per_host;
  std::string token_file;
  std::shared_ptr<Launcher> launcher;  ///< of this process, the first of several; or null

  /// On which the ranks are, as many on each.
  int number_of_hosts() const;
};

/// Those that are numbers: --listen may stand without its value.
const std::vector<Field>& sides_fields();

void add_sides(CLI::App& command, Sides& sides);

/// Throws Failure(Exit::usage) for a side that cannot be.
void check_sides(const Sides& sides);

/// Throws Failure(Exit::usage) for a number of ranks that are not as many on each host. `asked`: by
/// --ranks, which not every command has.
void check_ranks_of_hosts(const Sides& sides, int ranks, bool asked);

}  // namespace ucxbench
