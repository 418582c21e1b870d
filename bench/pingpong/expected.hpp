#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/pingpong/pair_device.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/json.hpp"
#include "harness/transports/proof.hpp"
#include "harness/transports/protocol_tables.hpp"

namespace ucxbench::pingpong {

/// Adds UCX's estimate to an entry of "protocols": "expected_us", the one-way time of a message of
/// this case; "expected_by", its source: the "request", or "ucp_ep_evaluate_perf", which ignores
/// protocols; "from" and "to", the sizes in bytes that have the same protocol ("to" null: no end).
/// What UCX does not report is left out. `path` is that of such a message; `many`: of the bandwidth
/// part.
void add_expected(Json& record, const PairDevice& device, const Parameters& parameters,
                  const MessagePath& path, bool many);

/// The sizes that UCX sends as it does those of this case, one at a time; of operations on memory,
/// and where its tables do not say it, empty. After a message of this case.
std::optional<ProtocolRange> range_of_case(const PairDevice& device, const Parameters& parameters);

/// The TCP lanes ("tcp/eth0") whose device has no speed in /sys/class/net. UCX assumes 100 Mbit/s
/// for them (uct_tcp_netif_caps, 1.13 to 1.22).
std::vector<std::string> lanes_of_unknown_speed(const std::vector<std::string>& lanes);

}  // namespace ucxbench::pingpong
