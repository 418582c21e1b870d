#include "harness/topology/link_specifications.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ucxbench {
namespace {

// PCIe: GT/s × 8b/10b (to 5 GT/s) or 128b/130b, one bit per transfer and lane. InfiniBand: data
// rate after 8b/10b (to QDR) or 64b/66b, which is what the names of FDR and later count.
constexpr std::array<LinkSpecification, 29> table = {{
    {"NVLink 1", 20, "link", "NVIDIA Tesla P100 white paper, 2016", "high"},
    {"NVLink 2", 25, "link", "NVIDIA Tesla V100 white paper, 2017", "high"},
    {"NVLink 3", 25, "link", "NVIDIA A100 white paper, 2020", "high"},
    // Slower lanes: 112.5 GB/s both ways over four links.
    {"NVLink 3 of GA102", 14.0625, "link", "NVIDIA Ampere GA102 white paper, 2020", "high"},
    {"NVLink 4", 25, "link", "NVIDIA H100 white paper, 2022", "high"},
    {"NVLink 5", 50, "link", "NVIDIA Blackwell architecture brief, 2024", "high"},
    // 900 GB/s both ways per processor, which GB200 and GB300 share out to two GPUs.
    {"NVLink-C2C of GH200", 450, "GPU", "NVIDIA Grace Hopper white paper, 2022", "high"},
    {"NVLink-C2C of GB200", 225, "GPU", "NVIDIA GB200 data sheet, 2024, halved", "medium"},
    {"PCIe gen1", 0.25, "lane", "PCI Express base specification 1.1", "high"},
    {"PCIe gen2", 0.5, "lane", "PCI Express base specification 2.0", "high"},
    {"PCIe gen3", 8.0 / 8 * 128 / 130, "lane", "PCI Express base specification 3.0", "high"},
    {"PCIe gen4", 16.0 / 8 * 128 / 130, "lane", "PCI Express base specification 4.0", "high"},
    {"PCIe gen5", 32.0 / 8 * 128 / 130, "lane", "PCI Express base specification 5.0", "high"},
    // Raw: of a flit's 256 bytes 20 are not packets.
    {"PCIe gen6", 64.0 / 8, "lane", "PCI Express base specification 6.0", "medium"},
    {"SDR", 1, "4 lanes", "InfiniBand architecture specification", "high"},
    {"DDR", 2, "4 lanes", "InfiniBand architecture specification", "high"},
    {"QDR", 4, "4 lanes", "InfiniBand architecture specification", "high"},
    {"FDR", 6.8, "4 lanes", "InfiniBand architecture specification", "high"},
    {"EDR", 12.5, "4 lanes", "InfiniBand Trade Association roadmap", "high"},
    {"HDR", 25, "4 lanes", "InfiniBand Trade Association roadmap", "high"},
    {"NDR", 50, "4 lanes", "InfiniBand Trade Association roadmap", "high"},
    {"XDR", 100, "4 lanes", "InfiniBand Trade Association roadmap", "high"},
    {"Ethernet", 0.125, "Gb/s", "IEEE 802.3: nominal rates are after line coding", "high"},
    {"QPI 9.6 GT/s", 19.2, "link", "Intel Xeon E5 v3 and v4 data sheets", "medium"},
    {"UPI 10.4 GT/s", 20.8, "link", "Intel Xeon Scalable data sheets", "medium"},
    {"UPI 11.2 GT/s", 22.4, "link", "Intel Xeon Scalable (third generation) data sheets", "medium"},
    {"UPI 16 GT/s", 32, "link", "two bytes a transfer; figures for UPI 2.0 disagree", "low"},
    {"UPI 20 GT/s", 40, "link", "two bytes a transfer; figures for UPI 2.0 disagree", "low"},
    {"UPI 24 GT/s", 48, "link", "two bytes a transfer; figures for UPI 2.0 disagree", "low"},
}};

struct Generation {
  std::string_view nvlink;
  int compute_capability;  ///< 86 for 8.6
  int most_links;
  std::array<std::string_view, 6> models;  ///< parts of products' names
};

// GPUs of other compute capabilities have no NVLink between them (8.9, 12.0), or one of which
// sources disagree (10.7).
constexpr std::array<Generation, 8> generations = {{
    {"NVLink 1", 60, 4, {"P100"}},
    {"NVLink 2", 70, 6, {"V100"}},
    {"NVLink 2", 75, 2, {"TITAN RTX", "RTX 8000", "RTX 6000", "RTX 5000", "RTX 2080"}},
    {"NVLink 3", 80, 12, {"A100", "A800", "A30"}},
    {"NVLink 3 of GA102", 86, 4, {"A40", "A6000", "A5500", "A5000", "A4500", "RTX 3090"}},
    {"NVLink 4", 90, 18, {"H100", "H200", "H800", "H20"}},
    {"NVLink 5", 100, 18, {"B100", "B200"}},
    {"NVLink 5", 103, 18, {"B300"}},
}};

struct Superchip {
  std::string_view model;
  std::string_view c2c;
};

constexpr std::array<Superchip, 3> superchips = {{{"GH200", "NVLink-C2C of GH200"},
                                                  {"GB200", "NVLink-C2C of GB200"},
                                                  {"GB300", "NVLink-C2C of GB200"}}};

struct Processor {
  int family;
  int model;
  std::string_view link;
};

// Of Intel's servers: Haswell, Broadwell, Skylake and Cascade Lake, Ice Lake, Sapphire Rapids,
// Emerald Rapids, Granite Rapids (SP and AP, and D). Models as in Linux' intel-family.h.
constexpr std::array<Processor, 8> processors = {{{6, 63, "QPI 9.6 GT/s"},
                                                  {6, 79, "QPI 9.6 GT/s"},
                                                  {6, 85, "UPI 10.4 GT/s"},
                                                  {6, 106, "UPI 11.2 GT/s"},
                                                  {6, 143, "UPI 16 GT/s"},
                                                  {6, 207, "UPI 20 GT/s"},
                                                  {6, 173, "UPI 24 GT/s"},
                                                  {6, 174, "UPI 24 GT/s"}}};

constexpr std::array<double, 6> pcie_gigatransfers = {2.5, 5, 8, 16, 32, 64};

/// "A40" names an A40 and an A40-48Q, but no A4000.
bool names(std::string_view product, std::string_view model) {
  for (auto at = product.find(model); at != std::string_view::npos;
       at = product.find(model, at + 1)) {
    const auto behind = product.substr(at + model.size());
    if (behind.empty() || std::isdigit(static_cast<unsigned char>(behind.front())) == 0) {
      return true;
    }
  }
  return false;
}

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || !rest.starts_with(unit) || !(number > 0)) return std::nullopt;
  return number;
}

}  // namespace

std::string doubt_of(const LinkSpecification& row) {
  return row.confidence == "high" ? "" : fmt::format(" (confidence {})", row.confidence);
}

const LinkSpecification* link_specification(std::string_view name) {
  const auto* row = std::find_if(table.begin(), table.end(),
                                 [&](const auto& known) { return known.name == name; });
  return row == table.end() ? nullptr : row;
}

const LinkSpecification* nvlink_of_compute_capability(int capability) {
  for (const auto& generation : generations) {
    if (generation.compute_capability == capability) return link_specification(generation.nvlink);
  }
  return nullptr;
}

const LinkSpecification* nvlink_of_model(std::string_view model) {
  for (const auto& generation : generations) {
    for (const auto part : generation.models) {
      if (!part.empty() && names(model, part)) {
        return link_specification(generation.nvlink);
      }
    }
  }
  return nullptr;
}

std::optional<Capacity> c2c_of_model(std::string_view model) {
  for (const auto& superchip : superchips) {
    if (!names(model, superchip.model)) continue;
    const auto& row = *link_specification(superchip.c2c);
    return Capacity{row.GBps, fmt::format("{}: {}{}", row.name, row.source, doubt_of(row))};
  }
  return std::nullopt;
}

int most_nvlinks(const LinkSpecification* generation) {
  int most = 0;
  for (const auto& known : generations) {
    if (generation == nullptr || known.nvlink == generation->name) {
      most = std::max(most, known.most_links);
    }
  }
  return most;
}

Capacity nvlink_capacity(const LinkSpecification& generation, int links) {
  return {generation.GBps * links, fmt::format("{}, {} GB/s per link: {}", generation.name,
                                               generation.GBps, generation.source)};
}

std::optional<Capacity> pcie_capacity_of_generation(int generation, int lanes) {
  constexpr int most_lanes = 32;
  const auto* row = link_specification(fmt::format("PCIe gen{}", generation));
  if (row == nullptr || lanes < 1 || lanes > most_lanes) return std::nullopt;
  return Capacity{row->GBps * lanes, fmt::format("{} x{}{}", row->name, lanes, doubt_of(*row))};
}

std::optional<Capacity> pcie_capacity(double gigatransfers, int lanes) {
  for (std::size_t i = 0; i < pcie_gigatransfers.size(); ++i) {
    // Old kernels write 8 for 8.0.
    if (gigatransfers == pcie_gigatransfers[i]) {
      return pcie_capacity_of_generation(static_cast<int>(i) + 1, lanes);
    }
  }
  return std::nullopt;
}

std::optional<Capacity> infiniband_capacity(std::string_view rate) {
  const auto gigabits = number_before(rate, " Gb/sec");
  const auto open = rate.find('(');
  const auto close = rate.find(')');
  if (!gigabits || open == std::string_view::npos || close == std::string_view::npos) {
    return std::nullopt;
  }
  const auto words = rate.substr(open + 1, close - open - 1);  // "4X EDR"
  const auto lanes = number_before(words, "X ");
  const auto* row = link_specification(words.substr(words.find(' ') + 1));
  if (!lanes || row == nullptr || row->unit != "4 lanes") return std::nullopt;
  return Capacity{row->GBps * *lanes / 4,
                  fmt::format("{}X {}: {}", *lanes, row->name, row->source)};
}

std::optional<Capacity> ethernet_capacity(std::uint64_t megabits_per_s) {
  if (megabits_per_s == 0) return std::nullopt;
  const auto gigabits = static_cast<double>(megabits_per_s) / 1000;
  const auto& row = *link_specification("Ethernet");
  return Capacity{row.GBps * gigabits, fmt::format("{} Gb/s", gigabits)};
}

const LinkSpecification* socket_link(std::string_view vendor, int family, int model) {
  if (vendor != "GenuineIntel") return nullptr;
  for (const auto& processor : processors) {
    if (processor.family == family && processor.model == model) {
      return link_specification(processor.link);
    }
  }
  return nullptr;
}

}  // namespace ucxbench
