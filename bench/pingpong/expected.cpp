#include "bench/pingpong/expected.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "harness/comm/choices.hpp"
#include "harness/core/files.hpp"
#include "harness/transports/protocol_tables.hpp"

namespace ucxbench::pingpong {
namespace {

// An operation's name in UCX's tables: "tagged message by ucp_tag_send*(multi) from host memory";
// in those of the old protocol engine "tag_send".
std::string operation_of(Api api) {
  switch (api) {
    case Api::put:
    case Api::get:
      return std::string(to_string(api));
    case Api::tag:
    case Api::stream:
    case Api::am:
      return fmt::format("{}_send", to_string(api));
    default:
      return "atomic_op";
  }
}

bool is_of(const ProtocolRange& range, const Parameters& p, bool many) {
  const auto& operation = range.operation;
  const auto name = operation_of(p.api);
  const bool holds = range.from <= p.bytes && (!range.to || p.bytes <= *range.to);
  if (!holds) return false;
  if (operation == name) return true;  // the old engine has one table for both parts
  // Requests with fast completion have tables of their own; we make none.
  return operation.find("ucp_" + name) != std::string::npos &&
         operation.find("fast-completion") == std::string::npos &&
         (operation.find("multi") != std::string::npos) == many;
}

// If several tables match, as with several remote keys: the one with this protocol.
std::optional<ProtocolRange> range_of(const std::vector<ProtocolRange>& ranges, const Parameters& p,
                                      const std::string& protocol, bool many) {
  std::optional<ProtocolRange> found;
  for (const auto& range : ranges) {
    if (!is_of(range, p, many)) continue;
    if (!found || range.protocol == protocol) found = range;
  }
  return found;
}

}  // namespace

void add_expected(Json& record, const PairDevice& device, const Parameters& p,
                  const MessagePath& path, bool many) {
  const auto evaluated = path.expected_us ? std::nullopt : device.evaluated_us(p.bytes);
  if (path.expected_us || evaluated) {
    record["expected_us"] = path.expected_us ? *path.expected_us : *evaluated;
    record["expected_by"] = path.expected_us ? "request" : "ucp_ep_evaluate_perf";
  }
  const auto range = range_of(parse_protocol_ranges(device.printed_info()), p, path.protocol, many);
  if (!range) return;
  record["from"] = range->from;
  record["to"] = range->to ? Json(*range->to) : Json();
}

std::optional<ProtocolRange> range_of_case(const PairDevice& device, const Parameters& p) {
  if (is_one_sided(p.api) || !p.latency) return std::nullopt;
  return range_of(parse_protocol_ranges(device.printed_info()), p, "", false);
}

std::vector<std::string> lanes_of_unknown_speed(const std::vector<std::string>& lanes) {
  constexpr std::string_view tcp = "tcp/";
  std::vector<std::string> unknown;
  for (const auto& lane : lanes) {
    if (!lane.starts_with(tcp)) continue;
    // "-1" or unreadable if the driver does not know it.
    const auto speed = number_of("/sys/class/net/" + lane.substr(tcp.size()) + "/speed");
    if (speed.value_or(0) == 0) unknown.push_back(lane);
  }
  return unknown;
}

}  // namespace ucxbench::pingpong
