#include "harness/host/processors.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/core/statistics.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

using LookClock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::uint32_t way_samples = 100;
constexpr std::uint32_t trips_each = 100;
constexpr std::uint32_t warm_up = 2;  // samples: until both threads run
constexpr std::size_t work_samples = 400;
constexpr std::size_t rounds_each = 10'000;  // some 10 us: far longer than reading the clock
constexpr std::size_t at_once = 8;
constexpr std::size_t additions_each = rounds_each * 2 * at_once;
constexpr std::chrono::milliseconds patience{50};

/// The number of a turn, which two threads pass to each other; odd ones are the answering
/// thread's.
class Turns {
 public:
  /// False when time is over, for both.
  bool wait_for(std::uint32_t turn) {
    for (std::uint32_t polls = 1; turn_.load(std::memory_order_acquire) != turn; ++polls) {
      // Reading the clock costs as much as some trips.
      if (polls % 1024 == 0 && (lost_ || LookClock::now() > end_)) {
        lost_ = true;
        return false;
      }
    }
    return true;
  }
  void pass(std::uint32_t turn) { turn_.store(turn, std::memory_order_release); }
  void give_up() { lost_ = true; }

 private:
  const LookClock::time_point end_ = LookClock::now() + patience;
  alignas(128) std::atomic<std::uint32_t> turn_{0};  // two lines: neighbours are fetched together
  alignas(128) std::atomic<bool> lost_{false};
};

// False where it did not work.
bool answer(Turns& turns) {
  for (std::uint32_t trip = 0; trip < (warm_up + way_samples) * trips_each; ++trip) {
    if (!turns.wait_for(2 * trip + 1)) return false;
    turns.pass(2 * trip + 2);
  }
  return true;
}

// Of each sample, a way in ns; none where it did not work.
std::vector<double> ways_ns(Turns& turns) {
  std::vector<double> ways;
  std::uint32_t trip = 0;
  for (std::uint32_t sample = 0; sample < warm_up + way_samples; ++sample) {
    const auto begin = LookClock::now();
    for (const auto end = trip + trips_each; trip < end; ++trip) {
      turns.pass(2 * trip + 1);
      if (!turns.wait_for(2 * trip + 2)) return {};
    }
    if (sample >= warm_up) {
      ways.push_back(Nanoseconds(LookClock::now() - begin).count() / (2 * trips_each));
    }
  }
  return ways;
}

// The same machine code whatever compiler builds it, and however: runs of two builds are compared.
void add_for_a_while() {
  std::uint64_t rounds = rounds_each;
#if defined(__x86_64__)
  asm volatile(
      "1:\n\t"
      ".rept 2\n\t"
      "add $3, %%rax\n\tadd $3, %%rcx\n\tadd $3, %%rdx\n\tadd $3, %%rsi\n\t"
      "add $3, %%r8\n\tadd $3, %%r9\n\tadd $3, %%r10\n\tadd $3, %%r11\n\t"
      ".endr\n\t"
      "sub $1, %0\n\t"
      "jnz 1b"
      : "+r"(rounds)
      :
      : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc");
#elif defined(__aarch64__)
  asm volatile(
      "1:\n\t"
      ".rept 2\n\t"
      "add x1, x1, #3\n\tadd x2, x2, #3\n\tadd x3, x3, #3\n\tadd x4, x4, #3\n\t"
      "add x5, x5, #3\n\tadd x6, x6, #3\n\tadd x7, x7, #3\n\tadd x8, x8, #3\n\t"
      ".endr\n\t"
      "subs %0, %0, #1\n\t"
      "b.ne 1b"
      : "+r"(rounds)
      :
      : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "cc");
#else
  std::array<std::uint64_t, at_once> sums{};
  for (; rounds > 0; --rounds) {
    for (int twice = 0; twice < 2; ++twice) {
      for (auto& sum : sums) {
        sum += 3;
        asm volatile("" : "+r"(sum));  // or they would be done before they are asked for
      }
    }
  }
#endif
}

// Of each sample, 1000 additions in ns.
std::vector<double> works_ns() {
  std::vector<double> works;
  for (std::size_t sample = 0; sample < work_samples; ++sample) {
    const auto begin = LookClock::now();
    add_for_a_while();
    works.push_back(Nanoseconds(LookClock::now() - begin).count() * 1000 / additions_each);
  }
  return works;
}

}  // namespace

std::optional<Processors> look_at_processors(int first, int second) {
  if (first == second) return std::nullopt;
  Turns turns;
  std::vector<double> ways;
  std::array<std::vector<double>, 2> works;
  try {
    // Threads of their own: whoever calls stays where it may run. Both have their last turn at
    // the same time, so that they work together.
    const std::jthread answering([&] {
      if (!pin_this_thread(second)) return turns.give_up();
      if (answer(turns)) works[1] = works_ns();
    });
    const std::jthread asking([&] {
      if (!pin_this_thread(first)) return turns.give_up();
      ways = ways_ns(turns);
      if (!ways.empty()) works[0] = works_ns();
    });
  } catch (const std::system_error&) {
    return std::nullopt;  // no more threads; the one that there is has waited until time was over
  }
  if (ways.empty() || works[1].empty()) return std::nullopt;
  return Processors{median(ways), (median(works[0]) + median(works[1])) / 2};
}

}  // namespace ucxbench
