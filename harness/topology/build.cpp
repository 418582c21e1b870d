#include "harness/topology/build.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

constexpr unsigned vendor_nvidia = 0x10de;
constexpr unsigned vendor_amd = 0x1002;

Link link_of(LinkClass link_class, const std::optional<Capacity>& capacity,
             const std::string& why) {
  Link link;
  link.link_class = link_class;
  if (capacity) link.specified_GBps = capacity->GBps;
  link.source = capacity ? capacity->source : why;
  return link;
}

}  // namespace

Graph graph_of_host(std::string source) {
  Graph graph;
  graph.source = std::move(source);
  Node host;
  host.name = "host";
  graph.add(std::move(host));
  return graph;
}

std::string free_name(const Graph& graph, const std::string& name) {
  auto free = name;
  for (auto n = graph.nodes.size(); graph.find_name(free) != Node::none; ++n) {
    free = fmt::format("{} ({})", name, n);
  }
  return free;
}

void check_free(const Graph& graph, const std::string& name) {
  if (graph.find_name(name) == Node::none) return;
  throw Failure(Exit::usage, fmt::format("{}: two devices are called {}", graph.source, name));
}

void attach_inside(Graph& graph, std::size_t child, std::size_t parent) {
  graph.attach(child, parent, link_of(LinkClass::internal, std::nullopt, ""));
}

void attach_across(Graph& graph, std::size_t child, std::size_t parent, const std::string& why) {
  graph.attach(child, parent, link_of(LinkClass::socket, std::nullopt, why));
}

void attach_pcie(Graph& graph, std::size_t child, std::size_t parent,
                 const std::optional<Capacity>& capacity, const std::string& why) {
  graph.attach(child, parent, link_of(LinkClass::pcie, capacity, why));
}

void set_c2c(Graph& graph, std::size_t gpu, const Capacity& capacity) {
  auto at = gpu;
  do {
    const auto up = graph.nodes[at].up;
    if (up == Node::none) return;
    at = graph.links[up].to;
    for (const auto index : {up, up + 1}) {
      auto& link = graph.links[index];
      link.link_class = LinkClass::c2c;
      link.specified_GBps = capacity.GBps;
      link.now_GBps.reset();
      link.source = capacity.source;
    }
  } while (graph.nodes[at].kind == NodeKind::bridge);
}

void attach_cable(Graph& graph, std::size_t nic, const std::optional<Capacity>& capacity) {
  auto networks = graph.of_kind(NodeKind::network);
  if (networks.empty()) {
    Node node;
    node.kind = NodeKind::network;
    node.name = free_name(graph, "network");
    networks = {graph.add(std::move(node))};
  }
  graph.connect(nic, networks.front(),
                link_of(LinkClass::network, capacity, "rate of the port unknown"));
}

std::size_t switch_at(Graph& graph, const std::string& pci) {
  for (const auto known : graph.of_kind(NodeKind::nvswitch)) {
    if (graph.nodes[known].pci == pci) return known;
  }
  Node node;
  node.kind = NodeKind::nvswitch;
  node.name = free_name(graph, pci.empty() ? "NVSwitch" : "NVSwitch " + pci);
  node.pci = pci;
  return graph.add(std::move(node));
}

void add_nvlinks(Graph& graph, std::size_t gpu, const std::map<std::size_t, int>& counts,
                 const LinkSpecification* generation, const std::string& why) {
  for (const auto& [to, count] : counts) {
    auto link = link_of(
        LinkClass::nvlink,
        generation == nullptr ? std::nullopt : std::optional(nvlink_capacity(*generation, count)),
        why);
    link.count = count;
    if (graph.nodes[to].kind == NodeKind::nvswitch) {
      graph.connect(gpu, to, std::move(link));
    } else {
      link.from = gpu;
      link.to = to;
      graph.links.push_back(std::move(link));
    }
  }
}

std::string socket_link_text(std::string_view vendor, int family, int model) {
  constexpr int first_epyc = 23;
  if (vendor == "AuthenticAMD" && family >= first_epyc) {
    return "xGMI between sockets: how many links, and how fast, is up to the firmware";
  }
  const auto* row = socket_link(vendor, family, model);
  if (row == nullptr) return "links between sockets unknown";
  return fmt::format("{} GB/s per {} link{}, how many unknown", row->GBps, row->name,
                     doubt_of(*row));
}

bool is_gpu_for_jobs(unsigned vendor, unsigned device_class) {
  constexpr unsigned vga = 0x0300;
  constexpr unsigned no_vga = 0x0302;
  constexpr unsigned other_display = 0x0380;
  const bool accelerator = device_class >> 8U == 0x12;
  if (vendor == vendor_amd) return device_class == other_display || accelerator;
  const bool display = device_class == vga || device_class == no_vga;
  return vendor == 0 ? display : vendor == vendor_nvidia && (display || accelerator);
}

std::string gpu_vendor(unsigned vendor) {
  if (vendor == vendor_nvidia) return "NVIDIA";
  return vendor == vendor_amd ? "AMD" : "";
}

void name_gpus(Graph& graph) {
  auto gpus = graph.of_kind(NodeKind::gpu);
  std::sort(gpus.begin(), gpus.end(),
            [&](std::size_t a, std::size_t b) { return graph.nodes[a].pci < graph.nodes[b].pci; });
  int next = 0;
  const bool some_named = std::any_of(
      gpus.begin(), gpus.end(), [&](std::size_t gpu) { return !graph.nodes[gpu].name.empty(); });
  for (const auto gpu : gpus) {
    if (!graph.nodes[gpu].name.empty()) continue;
    while (graph.find_name(fmt::format("GPU{}", next)) != Node::none) ++next;
    graph.nodes[gpu].name = fmt::format("GPU{}", next);
    if (!some_named) continue;
    graph.warnings.push_back(
        fmt::format("the GPU at {} has no number, other GPUs have: it is "
                    "called GPU{}",
                    graph.nodes[gpu].pci, next));
  }
}

}  // namespace ucxbench
