#include "harness/core/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ucxbench {
namespace {

#if defined(__x86_64__)
bool invariant_tsc() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && ((d >> 8U) & 1U) != 0;
}

struct Reading {
  std::uint64_t tsc, ns;
};

// The tightest of several bracketed readings, so that a preemption between the two clocks does not
// count.
Reading read_both() {
  Reading best{};
  auto width = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 32; ++i) {
    const auto before = __rdtsc();
    const auto ns = monotonic_ns();
    const auto after = __rdtsc();
    if (after - before < width) {
      width = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}
#endif

}  // namespace

Clock Clock::calibrate([[maybe_unused]] int calibration_ms) {
  Clock clock;
#if defined(__x86_64__)
  if (invariant_tsc()) {
    const auto first = read_both();
    std::this_thread::sleep_for(std::chrono::milliseconds(calibration_ms));
    const auto last = read_both();
    clock.use_tsc_ = last.tsc > first.tsc;
    if (clock.use_tsc_) {
      clock.ns_per_tick_ =
          static_cast<double>(last.ns - first.ns) / static_cast<double>(last.tsc - first.tsc);
    }
  }
#endif
  return clock;
}

std::string Clock::name() const {
  return use_tsc_ ? fmt::format("tsc {:.3f} GHz", 1.0 / ns_per_tick_) : "CLOCK_MONOTONIC";
}

double Clock::cost_ns() const {
  std::array<std::uint64_t, 4096> kept{};
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 16; ++round) {
    const auto start = ticks();
    for (auto& slot : kept) slot = ticks();
    const auto total = static_cast<double>(ticks() - start) * ns_per_tick_;
    best = std::min(best, total / static_cast<double>(kept.size()));
  }
  // Uses the array, so that the stores are made.
  return kept.back() >= kept.front() ? best : 0.0;
}

}  // namespace ucxbench
