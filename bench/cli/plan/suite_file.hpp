#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ucxbench {

/// One [[case]] of a suite: a measuring command with its options, as on a command line.
struct SuiteCase {
  std::string origin;  ///< "ci/suite.toml:7: case 2", for what is said about it
  std::string name;    ///< "case 2"
  std::string args;    ///< "merge -n 2 --rows 1M"
};

struct Suite {
  std::optional<int> launches;                       ///< 1 to 10000
  std::optional<std::chrono::nanoseconds> max_time;  ///< of the whole run
  std::vector<SuiteCase> cases;                      ///< at least one
};

/// Reads a suite from a TOML file. Throws Failure(Exit::usage), with file and line, for one that
/// cannot be read, is not TOML, or has anything but `launches`, `max_time` and [[case]] with
/// `args`.
Suite read_suite(const std::string& file);

}  // namespace ucxbench
