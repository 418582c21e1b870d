#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result/paths.hpp"
#include "harness/transports/counters.hpp"
#include "harness/transports/transport_set.hpp"

namespace ucxbench {

/// How UCX sent one message, in its own words (ucp_request_query, INFO_STRING, of the sender's
/// request once it is complete).
struct MessagePath {
  std::string protocol{};            ///< "rendezvous zero-copy read from remote"; "" if unknown
  std::vector<std::string> lanes{};  ///< that carried the payload, "cma/memory"; empty if unknown
  /// What UCX expected the message to take, by which it chose; of the new engine alone.
  std::optional<double> expected_us{};
};

/// From the text of either protocol engine: of UCX up to 1.15 by default "flags:0x… send length 8
/// NAME() lane[0]: 1:tcp/lo.0 …", of newer ones "{…} tag_send from host memory length 8 eager short
/// tcp/lo 74.3 MB/s 0.10 us". A rendezvous that the receiver carries out by reading is known to the
/// old engine's sender only as a request to send: lanes are then empty.
MessagePath parse_request_info(std::string_view text);

/// What is known about the messages of one case between one pair.
struct Evidence {
  std::vector<std::string> lanes{};  ///< configured for the endpoint
  MessagePath path{};
  std::string device = "UCX";       ///< whose lanes they are
  Counters moved{};                 ///< while only this pair was active
  std::uint64_t payload_bytes = 0;  ///< sent meanwhile, by this host; 0: counters say nothing
  double message_bytes = 0;         ///< of each message sent meanwhile, on average; 0: not known
  bool alike = true;                ///< they have one size, and one rank sends them to one other
};

/// What the shares of a payload rest on, or why nobody can tell them.
enum class Proof {
  counted,           ///< the devices' own counters saw the bytes
  told_and_counted,  ///< UCX names the lane, and that device's counters saw the bytes
  told,              ///< UCX names the lane; it has no counter
  only_lane,         ///< no other lane is configured
  eliminated,        ///< counters did not see the bytes, and one lane without a counter is left
  contradicted,      ///< counters deny what UCX or its lanes say
  control,           ///< as few bytes as control messages have may be these or payload
  not_counted,       ///< several lanes could, and no counter was read
  ambiguous,         ///< no counter saw the bytes, and no lane or several are left
  silent,            ///< neither lanes nor UCX say anything
};
std::string_view to_string(Proof proof);  ///< "told-and-counted", …

struct Verdict {
  PathVerdict path = PathVerdict::unknown;
  /// Share of the payload by member ("tcp", "shm", …); empty when unknown.
  std::map<std::string, double> carried{};
  Proof proof = Proof::silent;
  std::string eliminated{};  ///< the member of `carried` that is known by elimination; else empty
  std::string why{};         ///< one line
};

/// Weighs what UCX says, what its configuration leaves possible, and what independent counters saw.
/// Counters overrule UCX's words; where the two contradict each other without settling it, the
/// verdict is unknown.
Verdict judge(const TransportSet& set, const Evidence& evidence);

}  // namespace ucxbench
