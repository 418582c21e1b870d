#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/incast/parameters.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench::incast {

/// One run of all ranks, in nanoseconds: the time of each sender by the hot rank's clock, the time
/// of each receiver by its own, and round trips.
struct Run {
  std::vector<double> in_ns{}, out_ns{}, alone_ns{}, beside_ns{};
};

/// What one rank has of a run; the rest is empty.
Json to_json(const Run& run);
/// Of all ranks one.
Run run_of(const std::vector<Json>& ranks);

/// The samples of a launch: incast_GBps, fairness_ratio and outcast_GBps, one of each run, those
/// too short for a clock of such steps left out; round_trip_us and loaded_round_trip_us, one of
/// each round trip; and of each pair, to and from the hot rank, the median rate of its messages
/// beside those of the others. `messages`: of each pair.
LaunchRecord record_of(const std::vector<Run>& runs, const Parameters& p, std::uint64_t messages,
                       double clock_step_ns);

}  // namespace ucxbench::incast
