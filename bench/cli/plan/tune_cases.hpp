#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/plan/plan.hpp"

namespace ucxbench {

/// Whether the benchmark of `args`, which `plan` was made of, can use other memory for each
/// message, and was not told which to use.
bool has_cold_buffers(const Plan& plan, const std::string& args);
constexpr const char* with_cold_buffers = " --buffers warm,cold";

/// A suite's file with the args of these cases. Each case of the first takes `time_of_case` of each
/// launch; empty: as long as it takes.
std::string suite_text(const std::vector<std::string>& cases, int launches,
                       std::optional<std::chrono::milliseconds> time_of_case);

}  // namespace ucxbench
