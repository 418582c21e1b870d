#include "harness/topology/path.hpp"

#include <algorithm>

namespace ucxbench {
namespace {

/// From the node itself up to what hangs from nothing.
std::vector<std::size_t> chain_of(const Graph& graph, std::size_t node) {
  std::vector<std::size_t> chain;
  for (auto at = node; at != Node::none; at = graph.parent_of(at)) chain.push_back(at);
  return chain;
}

std::size_t ancestor(const Graph& graph, std::size_t node, NodeKind kind) {
  for (const auto at : chain_of(graph, node)) {
    if (graph.nodes[at].kind == kind) return at;
  }
  return Node::none;
}

struct Meeting {
  std::vector<std::size_t> from;  ///< up to below the common node
  std::vector<std::size_t> to;
  std::size_t common = Node::none;
};

Meeting meet(const Graph& graph, std::size_t a, std::size_t b) {
  Meeting meeting{chain_of(graph, a), chain_of(graph, b), Node::none};
  while (!meeting.from.empty() && !meeting.to.empty() && meeting.from.back() == meeting.to.back()) {
    meeting.common = meeting.from.back();
    meeting.from.pop_back();
    meeting.to.pop_back();
  }
  return meeting;
}

Distance across_numa(const Graph& graph, std::size_t a, std::size_t b) {
  const auto numa_a = ancestor(graph, a, NodeKind::numa);
  const auto numa_b = ancestor(graph, b, NodeKind::numa);
  if (numa_a != Node::none && numa_b != Node::none) return Distance::sys;
  const auto number_a = numa_of(graph, a);
  const auto number_b = numa_of(graph, b);
  if (!number_a || !number_b) return Distance::unknown;
  return number_a == number_b ? Distance::node : Distance::sys;
}

/// Within a NUMA node: its own memory is behind one host bridge, and of devices whose host bridge
/// is not known there is nothing to say.
Distance within_numa(const Graph& graph, const Meeting& meeting) {
  if (meeting.from.empty() || meeting.to.empty()) return Distance::phb;
  const auto known = [&](std::size_t below) {
    return graph.nodes[below].kind == NodeKind::host_bridge;
  };
  return known(meeting.from.back()) && known(meeting.to.back()) ? Distance::node
                                                                : Distance::unknown;
}

/// How many switches stand between a device and the common one. A port whose link several functions
/// share is none.
std::ptrdiff_t switches_in(const Graph& graph, const std::vector<std::size_t>& chain) {
  if (chain.empty()) return 0;
  return std::count_if(chain.begin() + 1, chain.end(), [&](std::size_t node) {
    return graph.nodes[node].kind == NodeKind::bridge &&
           !graph.nodes[node].name.starts_with("port ");
  });
}

Distance tree_distance(const Graph& graph, std::size_t a, std::size_t b) {
  const auto meeting = meet(graph, a, b);
  if (meeting.common == Node::none) return Distance::net;
  switch (graph.nodes[meeting.common].kind) {
    case NodeKind::bridge:
      return switches_in(graph, meeting.from) + switches_in(graph, meeting.to) == 0 ? Distance::pix
                                                                                    : Distance::pxb;
    case NodeKind::host_bridge:
      return Distance::phb;
    case NodeKind::numa:
      return within_numa(graph, meeting);
    default:
      return across_numa(graph, a, b);
  }
}

/// NVLinks side by side.
struct Bundle {
  std::vector<std::size_t> links;
  int count = 0;
  std::optional<double> GBps = 0.0;  ///< empty as soon as one is unknown

  void add(const Link& link, std::size_t index) {
    links.push_back(index);
    count += link.count;
    GBps = GBps && link.specified_GBps ? std::optional(*GBps + *link.specified_GBps) : std::nullopt;
  }
};

/// Direct ones, and those into and out of switches. The switches of a host are one: what lies
/// between them is not visible, and is as wide.
struct Nvlinks {
  Bundle direct;
  Bundle into;
  Bundle out;

  bool switched() const { return into.count > 0 && out.count > 0; }
  bool any() const { return direct.count > 0 || switched(); }
};

bool on_one_host(const Graph& graph, std::size_t a, std::size_t b) {
  return graph.nodes[a].host == graph.nodes[b].host;
}

bool in_one_fabric(const Graph& graph, std::size_t a, std::size_t b) {
  return !graph.nodes[a].fabric.empty() && graph.nodes[a].fabric == graph.nodes[b].fabric;
}

Nvlinks nvlinks_between(const Graph& graph, std::size_t from, std::size_t to) {
  Nvlinks nvlinks;
  for (const auto end : {from, to}) {
    if (graph.nodes[end].kind != NodeKind::gpu) return nvlinks;
  }
  if (!on_one_host(graph, from, to) && !in_one_fabric(graph, from, to)) return nvlinks;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const auto& link = graph.links[i];
    if (link.link_class != LinkClass::nvlink) continue;
    if (link.from == from && link.to == to) {
      nvlinks.direct.add(link, i);
    } else if (link.from == from && graph.nodes[link.to].kind == NodeKind::nvswitch) {
      nvlinks.into.add(link, i);
    } else if (link.to == to && graph.nodes[link.from].kind == NodeKind::nvswitch) {
      nvlinks.out.add(link, i);
    }
  }
  return nvlinks;
}

/// Whether links between these GPUs may exist that the graph does not have.
bool may_have_unread_links(const Graph& graph, std::size_t a, std::size_t b) {
  return !graph.unread_gpu_links.empty() && a != b && on_one_host(graph, a, b) &&
         graph.nodes[a].kind == NodeKind::gpu && graph.nodes[b].kind == NodeKind::gpu;
}

Path over_nvlinks(const Graph& graph, const Nvlinks& nvlinks) {
  Path path;
  path.path_class = {Distance::nvlink, nvlinks.direct.count};
  path.links = nvlinks.direct.links;
  path.capacity_GBps = nvlinks.direct.GBps;
  if (nvlinks.switched()) {
    const auto& [direct, into, out] = nvlinks;
    path.path_class.nvlinks += std::min(into.count, out.count);
    path.links.insert(path.links.end(), into.links.begin(), into.links.end());
    path.links.insert(path.links.end(), out.links.begin(), out.links.end());
    if (path.capacity_GBps && into.GBps && out.GBps) {
      *path.capacity_GBps += std::min(*into.GBps, *out.GBps);
    } else {
      path.capacity_GBps.reset();
    }
  }
  path.complete = path.capacity_GBps.has_value();
  path.source = graph.links[path.links.front()].source;
  if (path.complete && nvlinks.switched()) {
    path.source += "; shared by all peers behind the switches";
  }
  return path;
}

void take(const Graph& graph, std::size_t index, Path& path) {
  path.links.push_back(index);
  const auto& link = graph.links[index];
  if (link.link_class == LinkClass::internal) return;
  if (!link.specified_GBps) {
    path.complete = false;
    if (!path.capacity_GBps && path.source.empty()) path.source = link.source;
  } else if (!path.capacity_GBps || *link.specified_GBps < *path.capacity_GBps) {
    path.capacity_GBps = link.specified_GBps;
    path.source = link.source;
  }
}

}  // namespace

PathClass class_between(const Graph& graph, std::size_t a, std::size_t b) {
  if (a == b) return {Distance::self, 0};
  const auto stated = graph.stated.find(std::minmax(a, b));
  if (stated != graph.stated.end()) return stated->second;
  const auto nvlinks = nvlinks_between(graph, a, b);
  if (!nvlinks.any()) {
    if (may_have_unread_links(graph, a, b)) return {Distance::unknown, 0};
    return {tree_distance(graph, a, b), 0};
  }
  auto path_class = over_nvlinks(graph, nvlinks).path_class;
  if (!on_one_host(graph, a, b)) path_class.distance = Distance::mnnvl;
  return path_class;
}

Path path_between(const Graph& graph, std::size_t from, std::size_t to) {
  Path path;
  const auto nvlinks = nvlinks_between(graph, from, to);
  if (from != to && nvlinks.any()) {
    path = over_nvlinks(graph, nvlinks);
  } else if (may_have_unread_links(graph, from, to)) {
    path.source = graph.unread_gpu_links + " are not known";
  } else if (const auto meeting = meet(graph, from, to); meeting.common != Node::none) {
    path.complete = true;
    for (const auto node : meeting.from) take(graph, graph.nodes[node].up, path);
    for (auto node = meeting.to.rbegin(); node != meeting.to.rend(); ++node) {
      take(graph, graph.nodes[*node].up + 1, path);
    }
  }
  path.path_class = class_between(graph, from, to);
  return path;
}

Nearest nearest_nics(const Graph& graph, std::size_t node) {
  Nearest nearest;
  for (const auto nic : graph.of_kind(NodeKind::nic)) {
    if (!on_one_host(graph, node, nic)) continue;
    const auto path_class = class_between(graph, node, nic);
    if (path_class.distance == Distance::unknown) continue;
    if (path_class.distance < nearest.path_class.distance) nearest = {{}, path_class};
    if (path_class.distance == nearest.path_class.distance) nearest.nodes.push_back(nic);
  }
  return nearest;
}

std::optional<std::vector<int>> nearest_cpus(const Graph& graph, std::size_t node) {
  for (const auto at : chain_of(graph, node)) {
    if (graph.nodes[at].cpus) return graph.nodes[at].cpus;
  }
  return std::nullopt;
}

std::optional<int> numa_of(const Graph& graph, std::size_t node) {
  for (const auto at : chain_of(graph, node)) {
    if (graph.nodes[at].numa_node) return graph.nodes[at].numa_node;
  }
  return std::nullopt;
}

}  // namespace ucxbench
