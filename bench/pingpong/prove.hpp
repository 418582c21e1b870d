#pragma once

#include <vector>

#include "bench/pingpong/measure.hpp"
#include "harness/comm/protocol_tables.hpp"

namespace ucxbench::pingpong {

/// What carries the messages of a case: sends some more of them, outside every timed region, asks
/// UCX how each kind went, and reads the devices' counters around those that go over `counted`
/// while no other pair is active (without it counters are left alone, and pairs need not wait for
/// each other). All ranks call it at the same point of the plan. The lead's answer is
/// LaunchRecord::path; the follower's is empty.
Json prove(const Bench& bench, const Parameters& parameters, const std::vector<std::string>& lanes,
           Loops* counted);

/// Adds to `path`, on the lead, what UCX says that both ranks did on the connection of `counted`.
void add_uses(Json& path, const Bench& bench, const std::vector<ProtocolUse>& uses);

}  // namespace ucxbench::pingpong
