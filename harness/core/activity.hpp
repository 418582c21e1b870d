#pragma once

#include <array>
#include <atomic>
#include <cstddef>
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

/// Timed loops of more threads than one have a count each.
inline constexpr std::size_t most_busy_threads = 64;
inline std::array<Activity, most_busy_threads>& activities() {
  static constinit std::array<Activity, most_busy_threads> instances;
  return instances;
}
inline Activity& activity() { return activities().front(); }

/// Of all threads.
inline std::uint64_t activity_of_all() {
  std::uint64_t sum = 0;
  for (const auto& of_thread : activities()) sum += of_thread.count.load(std::memory_order_relaxed);
  return sum;
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
