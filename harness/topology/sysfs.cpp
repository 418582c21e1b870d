#include "harness/topology/sysfs.hpp"

#include <fmt/format.h>

#include <charconv>

#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include "harness/topology/graph.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

/// "8.0 GT/s PCIe", "8 GT/s", "Unknown".
std::optional<double> gigatransfers(const fs::path& file) {
  const auto line = first_line(file);
  double speed = 0;
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), speed);
  return error == std::errc{} && speed > 0 ? std::optional(speed) : std::nullopt;
}

std::optional<Capacity> capacity_of(const fs::path& device, const std::string& which) {
  const auto speed = gigatransfers(device / (which + "_link_speed"));
  const auto lanes = number_of(device / (which + "_link_width"));
  // 0 lanes: no link; 255: not known.
  if (!speed || !lanes || *lanes > 32) return std::nullopt;
  return pcie_capacity(*speed, static_cast<int>(*lanes));
}

/// Of both ends of a link.
std::optional<Capacity> common_capacity(const fs::path& device, const fs::path& port) {
  auto speed = gigatransfers(device / "max_link_speed");
  auto lanes = number_of(device / "max_link_width");
  if (!speed || !lanes) return std::nullopt;
  if (const auto of_port = gigatransfers(port / "max_link_speed")) {
    speed = std::min(*speed, *of_port);
  }
  if (const auto of_port = number_of(port / "max_link_width"); of_port && *of_port > 0) {
    lanes = std::min(*lanes, *of_port);
  }
  return *lanes > 32 ? std::nullopt : pcie_capacity(*speed, static_cast<int>(*lanes));
}

NicPort rdma_port(const fs::path& port) {
  NicPort found;
  const auto state = first_line(port / "state");  // "4: ACTIVE"
  const auto colon = state.find(':');
  if (colon != std::string::npos) found.state = trim_text(state).substr(colon + 1);
  found.state = trim_text(found.state);
  if (found.state != "ACTIVE") return found;
  const auto rate = first_line(port / "rate");
  if (first_line(port / "link_layer") != "Ethernet") {
    found.rate = infiniband_capacity(rate);
  } else if (const auto gigabits = number_of(port / "rate")) {
    found.rate = ethernet_capacity(*gigabits * 1000);
  }
  return found;
}

}  // namespace

PcieLink pcie_link_of(const std::string& pci, const fs::path& sys) {
  std::error_code absent;
  const auto device = fs::canonical(sys / "bus/pci/devices" / pci, absent);
  if (absent) return {};
  const auto above = device.parent_path();
  // A root complex ("pci0000:00") has no link of its own.
  const bool port = !normal_pci(above.filename().string()).empty();
  return {common_capacity(device, port ? above : fs::path()), capacity_of(device, "current")};
}

NicPort port_of(const std::string& nic, const fs::path& sys) {
  const auto rdma = sys / "class/infiniband" / nic / "ports";
  NicPort first;
  for (const auto& number : entries_of(rdma)) {
    auto port = rdma_port(rdma / number);
    if (port.state == "ACTIVE") return port;
    if (first.state.empty()) first = std::move(port);
  }
  const auto network = sys / "class/net" / nic;
  if (!first.state.empty() || !fs::exists(network)) return first;
  NicPort port{first_line(network / "operstate"), std::nullopt};
  // Fails, or is -1, while the port is down and on virtual devices.
  if (const auto megabits = number_of(network / "speed"); megabits && *megabits < 10'000'000) {
    port.rate = ethernet_capacity(*megabits);
  }
  return port;
}

}  // namespace ucxbench
