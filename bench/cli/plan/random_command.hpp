#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ucxbench {

/// A measuring command that takes about a second.
struct RandomCommand {
  std::string benchmark;
  std::map<std::string, std::string> options;  ///< by long name; of a flag nothing
  std::string amount;  ///< that of them by which it grows: "iterations" or "runs"

  /// "p2p --iterations 12 …", with `times` as much to do.
  std::string args(int times = 1) const;
};

/// Drawn from the options of all benchmarks: the same for the same numbers. What the benchmark
/// refuses may be among them: then another `attempt` is another command.
RandomCommand random_command(std::uint64_t seed, std::uint64_t round, std::uint64_t attempt);

}  // namespace ucxbench
