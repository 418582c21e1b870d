#pragma once

#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// What differs between the environments of two runs: "UCX 1.13.1 -> 1.22.0", "kernel …", and
/// inherited UCX_* settings, "UCX_RNDV_THRESH not set -> 8192". Unknown is "?".
std::vector<std::string> differences_of(const Result& base, const Result& now);

/// Those because of which a difference in speed is none of the program measured: UCX of another
/// major or minor version, a GPU driver of another major version, another topology. What one of the
/// runs does not know is no difference.
std::vector<std::string> deciding_differences(const Result& base, const Result& now);

/// "?" where the file does not say.
std::string machine_of(const Result& result);

}  // namespace ucxbench
