#include "harness/topology/path.hpp"

#include <algorithm>
#include <map>

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

Distance tree_distance(const Graph& graph, std::size_t a, std::size_t b) {
  const auto meeting = meet(graph, a, b);
  if (meeting.common == Node::none) return Distance::net;
  switch (graph.nodes[meeting.common].kind) {
    case NodeKind::bridge:
      return meeting.from.size() <= 1 && meeting.to.size() <= 1 ? Distance::pix : Distance::pxb;
    case NodeKind::host_bridge:
      return Distance::phb;
    case NodeKind::numa:
      return within_numa(graph, meeting);
    default:
      return across_numa(graph, a, b);
  }
}

/// One of the ways that NVLinks give: direct, or through a switch.
struct NvlinkWay {
  std::vector<std::size_t> links;
  int count = 0;
  std::optional<double> specified_GBps;
};

std::vector<NvlinkWay> nvlink_ways(const Graph& graph, std::size_t from, std::size_t to) {
  std::vector<NvlinkWay> ways;
  for (const auto end : {from, to}) {
    if (graph.nodes[end].kind != NodeKind::gpu) return ways;
  }
  std::map<std::size_t, std::size_t> into;  // switch → link
  const auto& links = graph.links;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].link_class != LinkClass::nvlink) continue;
    if (links[i].from == from && links[i].to == to) {
      ways.push_back({{i}, links[i].count, links[i].specified_GBps});
    } else if (links[i].from == from && graph.nodes[links[i].to].kind == NodeKind::nvswitch) {
      into.emplace(links[i].to, i);
    }
  }
  for (std::size_t out = 0; out < links.size(); ++out) {
    if (links[out].link_class != LinkClass::nvlink || links[out].to != to) continue;
    const auto in = into.find(links[out].from);
    if (in == into.end()) continue;
    const auto& first = links[in->second];
    NvlinkWay way{{in->second, out}, std::min(first.count, links[out].count), std::nullopt};
    if (first.specified_GBps && links[out].specified_GBps) {
      way.specified_GBps = std::min(*first.specified_GBps, *links[out].specified_GBps);
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

Path over_nvlinks(const Graph& graph, const std::vector<NvlinkWay>& ways) {
  Path path;
  path.path_class.distance = Distance::nvlink;
  path.complete = true;
  for (const auto& way : ways) {
    path.links.insert(path.links.end(), way.links.begin(), way.links.end());
    path.path_class.nvlinks += way.count;
    if (way.specified_GBps) {
      path.capacity_GBps = path.capacity_GBps.value_or(0.0) + *way.specified_GBps;
    } else {
      path.complete = false;
    }
  }
  // A sum with unknown parts bounds nothing.
  if (!path.complete) path.capacity_GBps.reset();
  const auto& first = graph.links[path.links.front()];
  path.source = first.source;
  if (path.complete && graph.nodes[first.to].kind == NodeKind::nvswitch) {
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
  const auto ways = nvlink_ways(graph, a, b);
  if (!ways.empty()) return over_nvlinks(graph, ways).path_class;
  return {tree_distance(graph, a, b), 0};
}

Path path_between(const Graph& graph, std::size_t from, std::size_t to) {
  Path path;
  const auto ways = nvlink_ways(graph, from, to);
  if (from != to && !ways.empty()) {
    path = over_nvlinks(graph, ways);
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
