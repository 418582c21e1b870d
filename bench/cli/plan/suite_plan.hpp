#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options/sides.hpp"
#include "bench/cli/plan/plan.hpp"

namespace ucxbench {

/// What a suite's file asks for, parsed.
struct PlannedSuite {
  std::vector<Plan> plans;  ///< one per [[case]]
  std::size_t cases = 0;    ///< as far as that can be told before the machine is looked at
  int launches = 0;         ///< the file's, else as many as a verdict takes, at least 24
  int needed = 0;           ///< by `compare` for any verdict among so many cases
  int needed_duets = 0;     ///< the same of duets
  std::optional<std::chrono::nanoseconds> max_time;
};

/// With `launches` of each case, whatever the file says, on the hosts of `sides`, unless null.
/// Throws Failure(Exit::usage).
PlannedSuite plan_suite(const std::string& file, std::optional<int> launches = {},
                        const Sides* sides = nullptr);

/// "3/10": the third of ten.
struct OneLaunch {
  int number = 0;
  int of = 0;
};

/// Throws Failure(Exit::usage), naming --launch.
OneLaunch parse_one_launch(const std::string& text);

}  // namespace ucxbench
