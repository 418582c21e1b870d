#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ucxbench {

/// What one lane, link or port can carry one way, in payload of the link layer: line coding is
/// taken off, packet headers are not.
struct LinkSpecification {
  std::string_view name;        ///< "NVLink 2", "PCIe gen3", "EDR"
  double GBps;                  ///< GB/s (1e9 bytes/s), of one unit
  std::string_view unit;        ///< "link", "lane", "4 lanes", "GPU"
  std::string_view source;      ///< where the figure is from
  std::string_view confidence;  ///< "high"; "medium": derived; "low": sources disagree
};

/// A capacity and where it is from, in words.
struct Capacity {
  double GBps;
  std::string source;
};

/// "", or for a row that is not sure " (confidence medium)".
std::string doubt_of(const LinkSpecification& row);

/// Each empty (or null) where the table has no such row.
const LinkSpecification* link_specification(std::string_view name);

/// By CUDA's compute capability, 86 for 8.6: 60 is NVLink 1 (P100), 80 and 86 are NVLink 3 of
/// different speed (A100, A40), 100 is NVLink 5 (B200). What NVML calls a link's version is not
/// used: it has said 5 of the fourth generation.
const LinkSpecification* nvlink_of_compute_capability(int capability);

/// By a product's name, such as "Tesla V100-SXM2-32GB".
const LinkSpecification* nvlink_of_model(std::string_view model);

/// Of a GPU beside a processor of NVIDIA's (GH200, GB200, GB300): NVLink-C2C to that one, one way.
std::optional<Capacity> c2c_of_model(std::string_view model);

/// The most NVLinks that a GPU of that generation has; without one, that any GPU has.
int most_nvlinks(const LinkSpecification* generation);

Capacity nvlink_capacity(const LinkSpecification& generation, int links);

/// By the speed of a lane in GT/s: 2.5, 5, 8, 16, 32, 64; and of lanes 1 to 32.
std::optional<Capacity> pcie_capacity(double gigatransfers, int lanes);

/// By PCIe's generation, 1 to 6.
std::optional<Capacity> pcie_capacity_of_generation(int generation, int lanes);

/// By what the kernel says of a port's rate: "100 Gb/sec (4X EDR)". On RoCE it is Ethernet's.
std::optional<Capacity> infiniband_capacity(std::string_view rate);

std::optional<Capacity> ethernet_capacity(std::uint64_t megabits_per_s);

/// Of one link between two sockets. How many there are is not visible to software.
const LinkSpecification* socket_link(std::string_view vendor, int family, int model);

}  // namespace ucxbench
