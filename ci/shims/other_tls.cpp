// Preloaded into ranks by the tests: of the ranks that OTHER_TLS_RANKS names ("0,2"; of all where
// it is not set), UCX gets OTHER_TLS as its transports. Nothing in the environment says so, as with
// a device that stops to work. Where OTHER_TLS_LAUNCHES is set as well ("4"), a rank does so in
// that launch alone, counted from 1 in a file of its own in OTHER_TLS_FOLDER.

#include <ucp/api/ucp.h>

#include <fstream>
#include <string>

#include "shim.hpp"

namespace {

bool is_in(const std::string& list, const std::string& number) {
  return ("," + list + ",").find("," + number + ",") != std::string::npos;
}

/// Which launch this is of the rank: a process has one configuration or several, but one number.
std::string launch_of(const std::string& rank) {
  static const auto number = [&] {
    const auto name = variable("OTHER_TLS_FOLDER") + "/" + rank;
    int launches = 0;
    std::ifstream(name) >> launches;
    std::ofstream(name) << ++launches;
    return std::to_string(launches);
  }();
  return number;
}

bool has_other() {
  const auto rank = variable("UCXBENCH_INTERNAL_RANK");
  const auto ranks = variable("OTHER_TLS_RANKS");
  if (rank.empty() || (!ranks.empty() && !is_in(ranks, rank))) return false;
  const auto launches = variable("OTHER_TLS_LAUNCHES");
  return launches.empty() || is_in(launches, launch_of(rank));
}

}  // namespace

extern "C" ucs_status_t ucp_config_read(const char* prefix, const char* file,
                                        ucp_config_t** config) {
  static const auto real = next<decltype(ucp_config_read)>("ucp_config_read");
  const auto status = real(prefix, file, config);
  if (status == UCS_OK && has_other()) {
    return ucp_config_modify(*config, "TLS", variable("OTHER_TLS").c_str());
  }
  return status;
}
