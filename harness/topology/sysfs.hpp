#pragma once

// What the kernel says of links in /sys; `sys` is another folder in tests. What it does not say is
// empty.

#include <filesystem>
#include <optional>
#include <string>

#include "harness/topology/link_specifications.hpp"

namespace ucxbench {

/// The PCIe link above a device or switch.
struct PcieLink {
  std::optional<Capacity> most;  ///< that both of its ends can do
  std::optional<Capacity> now;   ///< as trained: less where it saves power or something is wrong
};

PcieLink pcie_link_of(const std::string& pci, const std::filesystem::path& sys = "/sys");

/// A NIC's port; of several the first that is up, else the first.
struct NicPort {
  std::string state;             ///< "ACTIVE", "DOWN" (InfiniBand and RoCE), "up", "down"
  std::optional<Capacity> rate;  ///< known only while the port is up
};

/// Of an RDMA device ("mlx5_0") or a network device ("eth0").
NicPort port_of(const std::string& nic, const std::filesystem::path& sys = "/sys");

}  // namespace ucxbench
