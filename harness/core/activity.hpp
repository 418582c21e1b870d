#pragma once

#include <atomic>
#include <cstdint>

namespace ucxbench {

/// Counts what this process gets done. The lifeline reports it, so that a long timed region is not
/// taken for a hang. On a cache line of its own: its writer is a timed loop.
struct alignas(64) Activity {
  std::atomic<std::uint64_t> count{0};

  /// Of one thread only; a relaxed load and store, hence one plain increment.
  void bump() { count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

inline Activity& activity() {
  static constinit Activity instance;
  return instance;
}

}  // namespace ucxbench
