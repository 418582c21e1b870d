#pragma once

#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Measures what this host does without UCX, on one CPU: for a run (result/events.hpp) launch
/// `launch` of two cases of canary_benchmark:
/// - canary/memcpy, `copy_GBps`: four copies between two buffers, new in each launch, that are
///   together larger than the last-level cache as glibc knows it (each at least 64 MiB, at most 512
///   MiB). Bytes copied per second: each is read once and written once.
/// - canary/syscall, `round_trip_us`: one byte through a socket pair and back in one thread, four
///   system calls and no waiting.
/// Throws Failure(Exit::lost) where the system refuses a socket pair.
std::vector<Json> measure_canary(int launch);

}  // namespace ucxbench
