#include "harness/topology/discover.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <map>
#include <memory>

#include "harness/core/failure.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/cpu_mask.hpp"
#include "harness/topology/hwloc_xml.hpp"
#include "harness/topology/path.hpp"
#include "harness/topology/sysfs.hpp"

namespace ucxbench {
namespace {

/// As XML, so that one reader serves this machine and files of others.
std::string hwloc_xml() {
  hwloc_topology_t raw = nullptr;
  hwloc_topology_init(&raw);
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(
      raw, &hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // Plug-ins that start GPU drivers in this process, which is none of a rank; and pci
  // (libpciaccess), which leaks: without it hwloc reads the same from /sys.
  for (const char* component : {"cuda", "gl", "levelzero", "nvml", "opencl", "pci", "rsmi"}) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  char* text = nullptr;
  int length = 0;
  if (hwloc_topology_load(raw) != 0 ||
      hwloc_topology_export_xmlbuffer(raw, &text, &length, 0) != 0) {
    throw Failure(Exit::cannot_run, "hwloc cannot read this machine's topology from /sys");
  }
  std::string xml(text);
  hwloc_free_xmlbuffer(raw, text);
  return xml;
}

void set_link(Graph& graph, std::size_t node, const Capacity& most,
              const std::optional<Capacity>& now, std::string_view by) {
  auto source = fmt::format("{} by {}", most.source, by);
  if (now && now->GBps < most.GBps) source += fmt::format(", now {}", now->source);
  const auto up = graph.nodes[node].up;
  for (const auto index : {up, up + 1}) {
    auto& link = graph.links[index];
    link.specified_GBps = most.GBps;
    if (now) link.now_GBps = now->GBps;
    link.source = source;
  }
}

/// A port's own link is that of the card whose functions share it.
void set_link_of_port(Graph& graph, std::size_t port) {
  for (const auto& of_card : graph.links) {
    if (of_card.to != port || graph.parent_of(of_card.from) != port) continue;
    const auto up = graph.nodes[port].up;
    for (const auto index : {up, up + 1}) {
      auto& link = graph.links[index];
      link.specified_GBps = of_card.specified_GBps;
      link.now_GBps = of_card.now_GBps;
      link.source = of_card.source;
    }
    return;
  }
}

void add_ports(Graph& graph, const std::filesystem::path& sys) {
  for (const auto index : graph.of_kind(NodeKind::nic)) {
    const auto port = port_of(graph.nodes[index].name, sys);
    graph.nodes[index].state = port.state;
    if (!port.rate) continue;
    for (auto& link : graph.links) {
      if (link.link_class != LinkClass::network || (link.from != index && link.to != index)) {
        continue;
      }
      link.specified_GBps = port.rate->GBps;
      link.source = port.rate->source + " by sysfs";
    }
  }
}

/// What a GPU hangs from that is not in the PCI tree.
std::size_t place_of(const Graph& graph, const NvmlGpu& gpu) {
  const auto numas = graph.of_kind(NodeKind::numa);
  if (numas.size() == 1) return numas.front();
  for (const auto numa : numas) {
    const auto& cpus = graph.nodes[numa].cpus;
    if (gpu.cpus && cpus && is_part_of(*gpu.cpus, *cpus)) return numa;
  }
  return 0;
}

std::optional<Capacity> capacity_of(const std::optional<NvmlPcie>& pcie) {
  return pcie ? pcie_capacity_of_generation(pcie->generation, pcie->lanes) : std::nullopt;
}

/// The GPU's node, in which NVML has the last word; of a GPU that hwloc did not see, a new one.
std::size_t add_gpu(Graph& graph, const NvmlGpu& gpu) {
  auto index = graph.find_pci(gpu.pci);
  const auto most = capacity_of(gpu.pcie_most);
  if (index == Node::none) {
    Node node;
    node.kind = NodeKind::gpu;
    node.pci = gpu.pci;
    const auto place = place_of(graph, gpu);
    index = graph.add(std::move(node));
    attach_pcie(graph, index, place, most, "PCIe speed unknown");
  }
  auto& node = graph.nodes[index];
  node.kind = NodeKind::gpu;
  node.name = fmt::format("GPU{}", gpu.index);
  node.model = gpu.name;
  node.vendor = "NVIDIA";
  node.cpus = gpu.cpus;
  node.fabric = gpu.fabric;
  if (most && !graph.links[node.up].now_GBps) {
    set_link(graph, index, *most, capacity_of(gpu.pcie_now), "NVML");
  }
  const auto c2c = gpu.c2c_GBps ? std::optional(Capacity{*gpu.c2c_GBps, "NVLink-C2C by NVML"})
                                : c2c_of_model(gpu.name);
  if (c2c) set_c2c(graph, index, *c2c);
  return index;
}

void add_links_of(Graph& graph, const NvmlGpu& gpu, std::size_t from) {
  std::map<std::size_t, int> counts;
  for (const auto& link : gpu.links) {
    auto to = graph.find_pci(link.pci);
    if (to == Node::none || graph.nodes[to].kind != NodeKind::gpu) {
      // A processor of IBM's, or a GPU that this container does not show.
      if (link.remote == NvmlLink::Remote::other || link.remote == NvmlLink::Remote::gpu) continue;
      to = switch_at(graph, link.pci);
    }
    ++counts[to];
  }
  add_nvlinks(
      graph, from, counts,
      gpu.compute_capability ? nvlink_of_compute_capability(*gpu.compute_capability) : nullptr);
}

/// Where the tree does not tell how far two GPUs are apart, NVML may.
void state_levels(Graph& graph, const std::vector<NvmlGpu>& gpus,
                  const std::map<int, std::size_t>& nodes) {
  // nvmlGpuTopologyLevel_t; 0 is one board.
  const std::map<int, Distance> levels = {{0, Distance::pix},   {10, Distance::pix},
                                          {20, Distance::pxb},  {30, Distance::phb},
                                          {40, Distance::node}, {50, Distance::sys}};
  for (const auto& gpu : gpus) {
    for (const auto& [index, other] : nodes) {
      const auto self = nodes.at(gpu.index);
      if (class_between(graph, self, other).distance != Distance::unknown) continue;
      const auto level = levels.find(gpu.levels.at(static_cast<std::size_t>(index)));
      if (level != levels.end()) graph.stated[std::minmax(self, other)] = {level->second, 0};
    }
  }
}

}  // namespace

void add_sysfs(Graph& graph, const std::filesystem::path& sys) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    if (node.pci.empty() || node.up == Node::none) continue;
    if (graph.links[node.up].link_class != LinkClass::pcie) continue;
    const auto link = pcie_link_of(node.pci, sys);
    if (link.most) set_link(graph, i, *link.most, link.now, "sysfs");
  }
  for (const auto bridge : graph.of_kind(NodeKind::bridge)) {
    if (graph.nodes[bridge].name.starts_with("port ")) set_link_of_port(graph, bridge);
  }
  add_ports(graph, sys);
}

void add_nvml(Graph& graph, const std::vector<NvmlGpu>& gpus) {
  if (gpus.empty()) return;
  // NVML numbers the GPUs; one that it does not have is no GPU0.
  for (const auto gpu : graph.of_kind(NodeKind::gpu)) {
    graph.nodes[gpu].name = "GPU " + graph.nodes[gpu].pci;
  }
  std::map<int, std::size_t> nodes;
  for (const auto& gpu : gpus) nodes[gpu.index] = add_gpu(graph, gpu);
  for (const auto& gpu : gpus) add_links_of(graph, gpu, nodes[gpu.index]);
  state_levels(graph, gpus, nodes);
}

Graph discover() {
  auto graph = graph_from_hwloc_xml(hwloc_xml());
  graph.source = discovered_source;
  add_sysfs(graph, "/sys");
  add_nvml(graph, nvml_gpus());
  return graph;
}

}  // namespace ucxbench
