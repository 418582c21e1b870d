#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace ucxbench {

/// What each thread of a process group does: its state, where in the kernel it waits, and the
/// functions that it is in, innermost first. Its processes are stopped for a moment, by ptrace(2);
/// what was stopped before stays so. Functions are named by libdw, where that is installed; without
/// it, and of what is stuck in the kernel or may not be looked at, the text says so and has the
/// rest. Several lines, of which what is not known by `deadline` is left out. Empty: nothing of the
/// group is left.
std::string stacks_of_group(pid_t group, std::chrono::steady_clock::time_point deadline);

}  // namespace ucxbench
