#pragma once

#include <string>

#include "bench/pingpong/connection.hpp"
#include "bench/pingpong/measure.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::pingpong {

/// What carries the messages of a case: sends some more of them, outside every timed region, asks
/// UCX how each kind went, and reads the devices' counters around them while no other pair is
/// active. In the `first` launch also whether put, get and atomic operations, which take about
/// `expected_us`, need the target's CPU. All ranks call it at the same point of the plan. The
/// lead's answer is LaunchRecord::path; the follower's is empty. With Parameters::expected also
/// what UCX expected (add_expected).
Json prove(const Bench& bench, const Parameters& parameters, const Connection& connection,
           const GpusOfRanks& gpus, bool first, double expected_us);

/// What UCX says that both ranks did with as many messages, by its own count: over a connection
/// named `purpose`, which carries nothing else, since UCX says it when a connection ends. Likewise
/// for all ranks; the lead's answer goes into `path.protocols`.
Json count_protocols(RankContext& context, Pair& pair, const Parameters& parameters, Buffer& send,
                     Buffer& receive, const MessageForm& form, const std::string& purpose);

}  // namespace ucxbench::pingpong
