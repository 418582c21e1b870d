#pragma once

#include <optional>
#include <string>

#include "harness/analysis/rules/judged.hpp"

namespace ucxbench {

/// More than this no machine gives, in the unit of the metric.
struct PhysicalLimit {
  double most = 0;
  std::string why;
};

/// Of a rate of messages, by what it adds up (SumOf), and of the pair that `record` is of; empty
/// for other metrics and where nothing is known. For each way the lowest of
///
/// - messages: 200 million a second between two ranks. Each takes a call into UCX and one back, and
///   those are not done in 5 ns, some 25 cycles; the shortest that were measured take 100 ns.
/// - between host memories, 400 GB/s a receiving rank: whatever the transport, a core stores every
///   byte that comes, at most 64 of them a cycle (one 512-bit store: Intel's optimization reference
///   manual, Golden Cove; AMD's for family 1Ah), at no more than 6.25 GHz. Over loopback TCP and
///   shared segments a byte is copied twice, which makes it less.
/// - where InfiniBand carried them, what the cables of the sender's adapters carry by the topology.
std::optional<PhysicalLimit> physical_limit(const Judged& run, const Case& of,
                                            const LaunchRecord& record, const ShownMetric& metric);

}  // namespace ucxbench
