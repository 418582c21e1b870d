#pragma once

#include "harness/comm/resources.hpp"

namespace ucxbench {

/// The hidden command by which this program asks UCX in a process of its own.
inline constexpr const char* probe_command = "__probe";

/// What that process prints and returns.
int probe_main();

/// Runs `ucx-bench __probe` and reads its answer, within 20 s. Throws Failure(Exit::cannot_run)
/// with UCX's own words when it fails.
UcxResources probe_ucx();

}  // namespace ucxbench
