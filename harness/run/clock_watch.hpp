#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/clock.hpp"
#include "harness/launch/rendezvous.hpp"

namespace ucxbench {

/// Why no time by a rank's clock can be believed.
enum class ClockFault {
  calibration,  ///< over the whole launch it had another rate than was calibrated at its begin
  other_rank,   ///< a rank that reads the same clocks has calibrated another rate
};

/// By how much: the times that the clock says, as a multiple of those that are right.
struct ClockDoubt {
  ClockFault fault;
  double ratio = 1;
  int rank = 0, other = 0;  ///< of other_rank
};

/// Calibrations differ by at most that; a clock that is being set by NTP runs at most half as far
/// from its rate (500 ppm, the kernel's limit).
inline constexpr double most_clock_error = 1e-3;

/// A rank's clock against CLOCK_MONOTONIC, again over the whole launch. A clock that was set while
/// it was calibrated, or a processor's counter of another rate, makes all times wrong.
class ClockWatch {
 public:
  /// `clock` has just been calibrated, and outlives this.
  explicit ClockWatch(const Clock& clock) : clock_(clock), begin_(read()) {}

  /// At the end of the launch; waits where that was too short to be measured.
  std::optional<ClockDoubt> doubt() const;

 private:
  struct Reading {
    std::uint64_t ticks, ns;
  };
  Reading read() const;

  const Clock& clock_;
  Reading begin_;
};

/// Of two ranks' calibrations, in nanoseconds of a thousand million ticks.
std::optional<ClockDoubt> doubt_between(double of_rank, double of_other, int rank, int other);

/// All ranks call it. Rank 0 looks at all that read the same clocks, and throws what `in_words`
/// says of the two that differ most; the others wait for nobody.
void check_ranks_agree(Rendezvous& rendezvous, const Clock& clock,
                       const Rendezvous::Progress& progress);

std::string in_words(const ClockDoubt& doubt);
/// Throws Failure(Exit::lost) if there is any: what was measured is lost.
void check_no(const std::optional<ClockDoubt>& doubt);

}  // namespace ucxbench
