#pragma once

#include <cstdint>
#include <string>

#include "bench/p2p/parameters.hpp"
#include "harness/launch/duet.hpp"
#include "harness/result/result.hpp"

namespace ucxbench::p2p {

/// The same of every pair: what is drawn does not depend on the pair.
std::string quads_of(const DuetRank& duet, const Parameters& p);

/// That count, of each pair.
std::uint64_t streams_of_block(const Parameters& p);

/// Puts the blocks of `metric`, of which `record` has every stream, into it. A pair with a stream
/// too short for the clock has none.
void keep_streams(LaunchRecord& record, const DuetRank& duet, const Parameters& p,
                  const std::string& metric);

}  // namespace ucxbench::p2p
