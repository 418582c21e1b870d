#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/pingpong/memory.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/json.hpp"
#include "harness/run/benchmark.hpp"
#include "harness/transports/protocol_tables.hpp"

namespace ucxbench::pingpong {

/// A case with the range of sizes that UCX sends as it does this one; empty where it is not known.
struct CaseRange {
  PlannedCase<Parameters> of;
  std::optional<ProtocolRange> range;
};

/// A case that is sent as UCX sends the sizes on the other side of a threshold.
struct ForcedCase {
  std::size_t at = 0;  ///< among all cases
  std::string name;    ///< of the setting, without "UCX_"
  std::string value;
};

/// Both sides of each threshold between two neighbouring sizes that one setting moves: from eager
/// messages to rendezvous, or from copies to zero-copy.
std::vector<ForcedCase> cases_to_force(const std::vector<CaseRange>& cases);

/// Measures those by connections of their own, of which each has one setting more. By the case's
/// index, more for `path.protocols`: rows {"use": "forced", "settings", "protocol" (as in UCX's
/// tables), "latency_us" (median)}; on a follower without figures. All ranks call it with the same
/// cases; rank 0 says which are forced. Throws Failure, with Exit::wrong_data for wrong payload.
std::map<std::size_t, Json> measure_forced(RankContext& context, Pair& pair,
                                           const std::vector<CaseRange>& cases, PairMemory& memory);

}  // namespace ucxbench::pingpong
