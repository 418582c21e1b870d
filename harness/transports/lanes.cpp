#include "harness/transports/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "harness/core/text.hpp"
#include "harness/result/cases.hpp"
#include "harness/transports/printed.hpp"
#include "harness/transports/ucx_error.hpp"

namespace ucxbench {

#if UCP_API_VERSION >= UCP_VERSION(1, 14)
std::vector<std::string> queried_lanes(ucp_ep_h endpoint) {
  std::array<ucp_transport_entry_t, 64> entries{};  // UCP_MAX_LANES is at most 64
  ucp_ep_attr_t attributes{};
  attributes.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
  attributes.transports = {entries.data(), entries.size(), sizeof entries[0]};
  check(ucp_ep_query(endpoint, &attributes), "ucp_ep_query");
  std::vector<std::string> lanes;
  for (const auto& entry : std::span(entries).first(attributes.transports.num_entries)) {
    // A lane of the connection manager has no device.
    if (entry.device_name == nullptr || *entry.device_name == '\0') continue;
    const auto lane = fmt::format("{}/{}", entry.transport_name, entry.device_name);
    add_once(lanes, lane);
  }
  return lanes;
}
#else
std::vector<std::string> queried_lanes(ucp_ep_h) { return {}; }
#endif

std::vector<std::string> printed_lanes(ucp_ep_h endpoint) {
  return parse_lanes(printed([&](std::FILE* out) { ucp_ep_print_info(endpoint, out); }));
}

std::vector<std::string> parse_lanes(std::string_view printed_info) {
  // "#                 lane[0]:  1:tcp/lo.0 md[0]      -> md[0]/tcp/sysdev[255]  am am_bw#0 wireup"
  // By hand: a rank of many has many endpoints, and std::regex takes as long for one as all else.
  std::vector<std::string> lanes;
  for (auto line : split_text(printed_info, '\n')) {
    const auto label = line.find("lane[");
    const auto after = line.find("]:", label);
    if (label == std::string_view::npos || after == std::string_view::npos) continue;
    line = trim_text(line.substr(after + 2));
    const auto name = line.find_first_not_of("0123456789");
    if (name == 0 || name == std::string_view::npos || line[name] != ':') continue;
    line = line.substr(name + 1);
    const auto word = line.substr(0, line.find(' '));
    // Behind the last dot is the path; dots before it are the device's: "eth0.100.0".
    const auto lane = std::string(word.substr(0, word.rfind('.')));
    if (lane.find('/') == std::string::npos) continue;
    add_once(lanes, lane);
  }
  return lanes;
}

}  // namespace ucxbench
