#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>

namespace ucxbench {

inline std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// The clock of the timed regions. On x86-64 with an invariant time-stamp counter (CPUID
/// 8000'0007H, EDX bit 8: constant rate in all ACPI states, Intel SDM vol. 3 "Invariant TSC") a
/// tick is one count of it, calibrated against CLOCK_MONOTONIC; elsewhere a tick is one nanosecond
/// of CLOCK_MONOTONIC. rdtsc is not ordered with the instructions around it: a few nanoseconds, the
/// same on both ends of an interval, and what ucx_perftest reads too.
class Clock {
 public:
  /// An interval is wrong by up to one step of the clock. No rate comes from a shorter one than
  /// this many: it would be wrong by more than 2 %.
  static constexpr double least_steps = 50;

  /// Calibrates for `calibration_ms`; the error is about 100 ns over that time.
  static Clock calibrate(int calibration_ms = 20);

  std::uint64_t ticks() const {
#if defined(__x86_64__)
    // Its header would bring all vector intrinsics into every file.
    if (use_tsc_) return __builtin_ia32_rdtsc();
#endif
    return monotonic_ns();
  }

  double us(std::uint64_t tick_count) const {
    return static_cast<double>(tick_count) * ns_per_tick_ * 1e-3;
  }
  std::uint64_t ticks_in(double seconds) const {
    return static_cast<std::uint64_t>(seconds * 1e9 / ns_per_tick_);
  }

  /// By how much the clock moves at once, measured by calibrate(): 10 ns where a counter of 100 MHz
  /// drives the time-stamp counter, however fine a tick is.
  double step_ns() const { return step_ns_; }
  double least_ns() const { return least_steps * step_ns_; }

  /// What comes in a second where `count` came in `ticks`; nothing below least_ns().
  std::optional<double> per_s(double count, std::uint64_t ticks) const {
    return rate_per_s(count, us(ticks) * 1e3, step_ns_);
  }
  static std::optional<double> rate_per_s(double count, double took_ns, double step_ns) {
    if (!(took_ns >= least_steps * step_ns)) return std::nullopt;
    return count / (took_ns * 1e-9);
  }

  /// "tsc 2.600 GHz" or "CLOCK_MONOTONIC".
  std::string name() const;

  /// What one ticks() plus storing it costs, in nanoseconds: the smallest mean of several loops.
  double cost_ns() const;

 private:
  bool use_tsc_ = false;
  double ns_per_tick_ = 1.0;
  double step_ns_ = 1.0;
};

/// The step of a clock, in ticks, from differences of its stamps: the greatest step of which all
/// differences that are seen often are multiples, to the rounding to whole ticks. A step below four
/// ticks is whole ticks, since rounding would hide any other. Differences of 0 are ignored;
/// without any others the answer is 1.
double clock_step_ticks(std::span<const std::uint64_t> differences);

}  // namespace ucxbench
