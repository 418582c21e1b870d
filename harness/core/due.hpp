#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "harness/core/clock.hpp"

namespace ucxbench {

/// By CLOCK_MONOTONIC in ns: until when this process has nothing to do, since what it waits for is
/// not due earlier. 0: what it waits for is due. The lifeline counts that time as activity, so that
/// a long recorded pause is not taken for a hang.
inline std::atomic<std::uint64_t>& idle_until_ns() {
  static constinit std::atomic<std::uint64_t> instance{0};
  return instance;
}

/// Grows as long as nothing is due.
inline std::uint64_t activity_of_pauses() {
  return std::min(monotonic_ns(), idle_until_ns().load(std::memory_order_relaxed));
}

}  // namespace ucxbench
