#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <string_view>
#include <vector>

namespace ucxbench {

/// The lanes as ucp_ep_query names them; empty where UCX cannot, as before 1.14.
std::vector<std::string> queried_lanes(ucp_ep_h endpoint);

/// The lanes in what ucp_ep_print_info prints.
std::vector<std::string> printed_lanes(ucp_ep_h endpoint);
std::vector<std::string> parse_lanes(std::string_view printed_info);

}  // namespace ucxbench
