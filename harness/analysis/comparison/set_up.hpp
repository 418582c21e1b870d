#pragma once

#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// What was asked for and set otherwise in two runs, though their cases have the same keys: options
/// ("--bind not given -> none"), parameters of cases that are no part of their keys
/// ("net_devices lo -> eth0"), the CPUs and network devices of ranks, and what UCX read
/// ("UCX_RNDV_THRESH auto -> 1K"). Each once, by the first of these that says it. What one run does
/// not say is no difference.
std::vector<std::string> set_up_differences(const Result& base, const Result& now);

}  // namespace ucxbench
