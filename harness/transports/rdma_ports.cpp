#include "harness/transports/rdma_ports.hpp"

#include <fmt/format.h>

#include "harness/core/files.hpp"

namespace ucxbench {

std::vector<std::string> active_rdma_ports(const std::filesystem::path& infiniband) {
  std::vector<std::string> ports;
  for (const auto& device : entries_of(infiniband)) {
    for (const auto& port : entries_of(infiniband / device / "ports")) {
      // "4: ACTIVE"; UCX warns of a port that is named and down.
      if (first_line(infiniband / device / "ports" / port / "state").starts_with("4:")) {
        ports.push_back(fmt::format("{}:{}", device, port));
      }
    }
  }
  return ports;
}

std::string net_device_of(const std::string& port, const std::filesystem::path& infiniband) {
  const auto colon = port.find(':');
  if (colon == std::string::npos) return "";
  const auto device = infiniband / port.substr(0, colon);
  const auto number = port.substr(colon + 1);
  const auto roce = first_line(device / "ports" / number / "gid_attrs/ndevs/0");
  if (!roce.empty()) return roce;
  // The network devices of the adapter (IPoIB), of which each knows its port, counted from 0.
  for (const auto& candidate : entries_of(device / "device/net")) {
    const auto own = number_of(device / "device/net" / candidate / "dev_port");
    if (own && fmt::to_string(*own + 1) == number) return candidate;
  }
  return "";
}

}  // namespace ucxbench
