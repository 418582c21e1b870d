#pragma once

#include <vector>

#include "bench/p2p/facts.hpp"
#include "bench/p2p/parameters.hpp"
#include "harness/launch/rendezvous.hpp"
#include "harness/result/result.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::p2p {

/// Of one pair's streams, without what carried them.
LaunchRecord record_of_streams(const Parameters& p, int launch, int src, int dst,
                               const std::vector<Timed>& streams);

/// What rank 0 makes of all ranks' facts (Facts, and of each rank "clock" and
/// "peak_buffer_bytes"): the case's report.
void report(RankContext& context, const PlannedCase<Parameters>& planned,
            const std::vector<Json>& ranks, const Rendezvous::Progress& waiting);

}  // namespace ucxbench::p2p
