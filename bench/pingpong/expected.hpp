#pragma once

#include <string>
#include <vector>

#include "bench/pingpong/pair_device.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/json.hpp"
#include "harness/transports/proof.hpp"

namespace ucxbench::pingpong {

/// Adds to an entry of "protocols" what UCX expected a message of this case to take, one way:
/// "expected_us", and "expected_by" whether the "request" said so or only "ucp_ep_evaluate_perf",
/// which knows no protocols; and the sizes in bytes that have the same protocol, "from" and "to"
/// (null: no end). What UCX does not say is left out. `path` is of such a message, `many` of one of
/// the bandwidth part.
void add_expected(Json& record, const PairDevice& device, const Parameters& parameters,
                  const MessagePath& path, bool many);

/// Of lanes "tcp/eth0" those whose device has no speed in /sys/class/net. UCX takes 100 Mbit/s for
/// it (uct_tcp_netif_caps, 1.13 to 1.22).
std::vector<std::string> lanes_of_unknown_speed(const std::vector<std::string>& lanes);

}  // namespace ucxbench::pingpong
