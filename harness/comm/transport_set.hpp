#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/comm/resources.hpp"

namespace ucxbench {

/// What one `--transports` option enables: members in canonical order (self, shm, tcp, nvlink, ib),
/// or "auto" alone.
class TransportSet {
 public:
  /// "tcp,shm". Throws Failure(Exit::usage), with the nearest name, for an unknown or empty member,
  /// and for "auto" beside others.
  static TransportSet parse(std::string_view text);

  const std::vector<std::string>& members() const { return members_; }
  bool has(std::string_view member) const;

  /// "tcp+nvlink", as it stands in case keys.
  std::string name() const;

 private:
  std::vector<std::string> members_;
};

/// The names that `--transports` accepts, each with one line on what it enables.
struct TransportName {
  std::string_view name, ucx_tls, description;
};
const std::vector<TransportName>& transport_names();

/// One UCX setting of a case, and why it is made.
struct UcxSetting {
  std::string key, value, why;
};

/// What a set sets. `net_devices` is UCX_NET_DEVICES' value, or empty to leave all;
/// `sockaddr` when endpoints are made through a listener.
std::vector<UcxSetting> ucx_settings(const TransportSet& set, const std::string& net_devices,
                                     bool sockaddr);

/// Why `set` cannot run with these resources, one line per missing member; empty when it can.
/// `sockaddr`: its connections are made by a UCP listener.
std::vector<std::string> missing(const TransportSet& set, const UcxResources& resources,
                                 bool sockaddr = false);

/// Whether a lane on UCX transport `ucx_name` ("posix", "cma", "tcp") belongs to the set.
bool carries(const TransportSet& set, std::string_view ucx_name);

}  // namespace ucxbench
