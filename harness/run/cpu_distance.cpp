#include "harness/run/cpu_distance.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/core/statistics.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

using DistanceClock = std::chrono::steady_clock;

constexpr std::uint32_t distance_samples = 100;
constexpr std::uint32_t trips_each = 100;
constexpr std::uint32_t warm_up = 2;  // samples: until both threads run
constexpr std::chrono::milliseconds patience{50};

/// A ball that two threads pass to each other; odd turns are the answering thread's.
class Ball {
 public:
  /// False when time is over, for both.
  bool wait_for(std::uint32_t turn) {
    for (std::uint32_t polls = 1; turn_.load(std::memory_order_acquire) != turn; ++polls) {
      // Reading the clock costs as much as some trips.
      if (polls % 1024 == 0 && (lost_ || DistanceClock::now() > end_)) {
        lost_ = true;
        return false;
      }
    }
    return true;
  }
  void pass(std::uint32_t turn) { turn_.store(turn, std::memory_order_release); }
  void lose() { lost_ = true; }

 private:
  const DistanceClock::time_point end_ = DistanceClock::now() + patience;
  alignas(128) std::atomic<std::uint32_t> turn_{0};  // two lines: neighbours are fetched together
  alignas(128) std::atomic<bool> lost_{false};
};

void answer(Ball& ball, int cpu) {
  if (!pin_this_thread(cpu)) return ball.lose();
  for (std::uint32_t trip = 0; trip < (warm_up + distance_samples) * trips_each; ++trip) {
    if (!ball.wait_for(2 * trip + 1)) return;
    ball.pass(2 * trip + 2);
  }
}

// Of each sample, a way in ns; fewer than asked for where it did not work.
std::vector<double> ways_ns(Ball& ball, int cpu) {
  std::vector<double> ways;
  if (!pin_this_thread(cpu)) ball.lose();
  std::uint32_t trip = 0;
  for (std::uint32_t sample = 0; sample < warm_up + distance_samples; ++sample) {
    const auto begin = DistanceClock::now();
    for (const auto end = trip + trips_each; trip < end; ++trip) {
      ball.pass(2 * trip + 1);
      if (!ball.wait_for(2 * trip + 2)) return {};
    }
    const std::chrono::duration<double, std::nano> took = DistanceClock::now() - begin;
    if (sample >= warm_up) ways.push_back(took.count() / (2 * trips_each));
  }
  return ways;
}

}  // namespace

std::optional<double> cpu_to_cpu_ns(int one, int other) {
  if (one == other) return std::nullopt;
  Ball ball;
  std::vector<double> ways;
  try {
    // Threads of their own: whoever calls stays where it may run.
    const std::jthread answering([&] { answer(ball, other); });
    const std::jthread asking([&] { ways = ways_ns(ball, one); });
  } catch (const std::system_error&) {
    return std::nullopt;  // no more threads; the one that there is has waited until time was over
  }
  return ways.empty() ? std::nullopt : std::optional(median(ways));
}

}  // namespace ucxbench
