#pragma once

#include <cstddef>
#include <optional>

#include "harness/run/benchmark.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {

/// What a rank is told of the traffic. Part 0 is about its script, and for rank 0 about all pairs;
/// the messages are in those that follow. Empty: there is no such part.
std::optional<Rendezvous::Bytes> part_of_script(const Traffic& traffic, int rank, std::size_t part);

/// A rank's part in all cases of its plan.
void run_rank(RankContext& context);

}  // namespace ucxbench::replay
