#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace ucxbench {

/// What each thread of a process group does: its state, where in the kernel it waits, and the
/// functions that it is in, innermost first. Functions come from `eu-stack` of elfutils, which
/// stops a process for a moment; where it is missing, fails or is not done by `deadline`, the text
/// says so. Several lines. Empty: nothing of the group is left.
std::string stacks_of_group(pid_t group, std::chrono::steady_clock::time_point deadline);

}  // namespace ucxbench
