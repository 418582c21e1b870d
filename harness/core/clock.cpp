#include "harness/core/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <thread>
#include <vector>
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
    const auto before = __builtin_ia32_rdtsc();
    const auto ns = monotonic_ns();
    const auto after = __builtin_ia32_rdtsc();
    if (after - before < width) {
      width = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}
#endif

// Differences of stamps with 0 to 31 cycles and more of work between them: of stamps taken at equal
// distances, all differences would be multiples of that.
std::vector<std::uint64_t> differences_of(const Clock& clock) {
  constexpr std::size_t enough = 4096;
  constexpr std::size_t least = 8;
  const auto long_enough = clock.ticks_in(0.02);
  std::vector<std::uint64_t> differences;
  differences.reserve(enough);
  const auto begin = clock.ticks();
  auto last = begin;
  for (unsigned turn = 0; differences.size() < enough; ++turn) {
    for (unsigned work = turn % 32; work > 0; --work) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    const auto now = clock.ticks();
    if (now != last) differences.push_back(now - last);
    last = now;
    if (differences.size() >= least && now - begin > long_enough) break;
  }
  return differences;
}

}  // namespace

double clock_step_ticks(std::span<const std::uint64_t> differences) {
  std::map<std::uint64_t, std::size_t> often;
  for (const auto difference : differences) {
    if (difference != 0) ++often[difference];
  }
  if (often.empty()) return 1.0;
  // An interruption may be of any length.
  const auto rare = differences.size() / 256;
  if (std::ranges::any_of(often, [&](const auto& seen) { return seen.second > rare; })) {
    std::erase_if(often, [&](const auto& seen) { return seen.second <= rare; });
  }

  // A step of 25.96 ticks is seen as 25 or 26.
  const auto smallest = often.begin()->first;
  const auto next = often.find(smallest + 1);
  const auto longer = next == often.end() ? 0.0 : static_cast<double>(next->second);
  const auto base = static_cast<double>(smallest) +
                    longer / (longer + static_cast<double>(often.begin()->second));
  const auto explains = [&](double step) {
    return std::ranges::all_of(often, [&](const auto& seen) {
      const auto difference = static_cast<double>(seen.first);
      // Beyond that, the error of the base is of the size of the rounding.
      if (difference > 8 * base) return true;
      return std::abs(difference - std::round(difference / step) * step) < 1.1;
    });
  };
  for (int parts = 1; base / parts >= 4; ++parts) {
    const auto step = base / parts;
    if (!explains(step)) continue;
    // All that is seen together has less rounding than one difference.
    double ticks = 0;
    double steps = 0;
    for (const auto difference : differences) {
      if (static_cast<double>(difference) > 8 * base) continue;
      ticks += static_cast<double>(difference);
      steps += std::round(static_cast<double>(difference) / step);
    }
    return ticks / steps;
  }
  std::uint64_t divisor = 0;
  for (const auto& [difference, count] : often) divisor = std::gcd(divisor, difference);
  return static_cast<double>(divisor);
}

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
  clock.step_ns_ = clock_step_ticks(differences_of(clock)) * clock.ns_per_tick_;
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
