#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

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

/// `progress`, whose calls count: for what calls it after each piece of work that it has done. Not
/// for who calls it while waiting, since what hangs would then look busy.
inline std::function<void()> counting(std::function<void()> progress) {
  return [progress = std::move(progress)] {
    activity().bump();
    progress();
  };
}

}  // namespace ucxbench
