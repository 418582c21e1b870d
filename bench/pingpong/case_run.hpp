#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pingpong/measure.hpp"
#include "bench/pingpong/verify.hpp"
#include "harness/run/duets.hpp"

namespace ucxbench::pingpong {

/// Samples kept in the run file per launch and metric: enough for a histogram, and a default run
/// stays at a few MiB.
inline constexpr std::size_t kept_samples = 256;

inline constexpr std::uint64_t most_iterations = 1'000'000;

/// One case while it is measured: what its parts share, and what they have found so far. Both ranks
/// of the pair have one, and do the same with it.
struct CaseRun {
  const Bench& bench;
  const Parameters& parameters;
  Verifier& verifier;
  bool one_clock = false;  ///< Pair::one_clock()
  LaunchRecord record{};

  void phase(std::string_view what) const;

  /// The buffers that `loops` have from now on: cold ones are out of all caches then.
  void use(Loops& loops, int window, bool many_sends) const;

  /// That, where what came until now shall not pass for what the next loop receives.
  void use_afresh(Loops& loops, int window, bool many_sends) const {
    verifier.forget([&] { use(loops, window, many_sends); });
  }

  /// The lead's value, on both.
  std::uint64_t agree(std::uint64_t value) const;

  std::uint64_t threads() const { return static_cast<std::uint64_t>(parameters.threads); }
  std::uint64_t of_all_threads(std::uint64_t count) const { return threads() * count; }

  double seconds(std::uint64_t ticks) const { return bench.clock.us(ticks) * 1e-6; }

  /// Seconds: that part of what the case has in each launch.
  double share(double part) const;

  /// Seconds that so many take.
  double timed_round_trips(std::uint64_t count) const {
    return seconds(bench.loops.round_trips(count, nullptr).length());
  }

  /// Of a message in a round trip: a rank alone has no way back, and what get and atomic operations
  /// take is one time with its answer.
  double ways() const;

  /// Of a metric in a duet, of which an iteration takes `iteration_s`, in `part` of the time.
  PlannedBlocks blocks_of(const char* metric, double iteration_s, double part,
                          std::uint64_t least) const;

  /// In us, each divided by `ways`. Of several threads only what none of them did alone.
  void add_times(std::vector<double>& times_us, std::span<const std::uint64_t> stamps,
                 double ways) const;

  /// Nothing where there are none, as where threads had no iteration in common.
  void keep_times(const std::string& metric, std::vector<double> times_us, double ways);
};

/// The first round trip, before anything is warm.
void measure_first_message(CaseRun& run);

/// Warm-up, then round trips of one message at a time.
void measure_latency(CaseRun& run);

/// Of put: until its origin knows it to be done.
void measure_completion(CaseRun& run);

/// A window of messages on their way, from the lead to the follower.
void measure_bandwidth(CaseRun& run);

/// Likewise, both ways at once.
void measure_bidirectional(CaseRun& run);

}  // namespace ucxbench::pingpong
