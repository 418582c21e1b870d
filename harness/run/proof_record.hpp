#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/result/result.hpp"
#include "harness/transports/counters.hpp"
#include "harness/transports/proof.hpp"

namespace ucxbench {

/// How many messages of `bytes` go between two readings of the counters: enough that what else
/// passes a counter meanwhile does not matter, and no more than a few milliseconds over the slowest
/// network.
std::uint64_t counted_messages(std::uint64_t bytes);

/// What moved on this rank's host, for counted_by_all.
Json counted_here(const Counters& moved);

/// What the devices of all hosts sent, by what each rank has from counted_here, null where it read
/// none: read before the first message and after its own last one. Ranks that see the same device
/// count once, with what the last of them saw: network devices are those of a network namespace,
/// others of a machine.
Counters counted_by_all(const std::vector<Json>& ranks);

/// One entry of "protocols": how UCX sends messages of `bytes` in this use.
Json protocol_record(std::uint64_t bytes, const char* use, const MessagePath& path);

/// LaunchRecord::path; `labels` are of GpusOfRanks. Counters that were not read (no payload
/// between) are left out.
Json path_record(const TransportSet& asked, const Evidence& evidence, const Json& protocols,
                 const Json& labels);

}  // namespace ucxbench
