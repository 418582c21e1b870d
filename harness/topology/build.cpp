#include "harness/topology/build.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ucxbench {
namespace {

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
  const auto* row = socket_link(vendor, family, model);
  if (row == nullptr) return "links between sockets unknown";
  return fmt::format("{} GB/s per {} link{}, how many unknown", row->GBps, row->name,
                     doubt_of(*row));
}

void name_gpus(Graph& graph) {
  auto gpus = graph.of_kind(NodeKind::gpu);
  std::sort(gpus.begin(), gpus.end(),
            [&](std::size_t a, std::size_t b) { return graph.nodes[a].pci < graph.nodes[b].pci; });
  int next = 0;
  for (const auto gpu : gpus) {
    if (!graph.nodes[gpu].name.empty()) continue;
    while (graph.find_name(fmt::format("GPU{}", next)) != Node::none) ++next;
    graph.nodes[gpu].name = fmt::format("GPU{}", next);
  }
}

}  // namespace ucxbench
