#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/run/launch_plan.hpp"

namespace ucxbench {

// What this host gives to ranks beside UCX, looked at around launches, never during one.

/// Of `plans` whose ranks share memory and that want copies timed, the one with ranks on most CPUs
/// of this host; null where there is none.
const LaunchPlan* copying_plan(const std::vector<LaunchPlan>& plans, const Result& result);

/// CPUs for ranks of this host, as far as there are so many.
std::vector<int> cpus_for_copies(const std::vector<RankCommand>& ranks);

/// An event "memory_copy" of a host of `result`: how fast it has just copied memory, by
/// measure_copies, or before.
Json memory_copy_event(const Result& result, const std::string& host, const Json& copies);

/// Of the CPUs that the first two of these ranks of this host are bound to, if they are.
std::optional<Processors> processors_of(const std::vector<RankCommand>& ranks);

/// The same as another host answers, and what it means: nothing where it is malformed.
Json processors_to_answer(const std::optional<Processors>& seen);
std::optional<Processors> processors_from_answer(const Json& answer);

/// Whether its ranks have CPUs of their own.
bool is_bound(const LaunchPlan& plan);

}  // namespace ucxbench
