#include "harness/analysis/limits/gpu_pairs.hpp"

#include <map>
#include <set>
#include <utility>

#include "harness/analysis/limits/carriers.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

using GpuNodes = std::map<int, std::size_t>;

GpuNodes gpus_of_ranks(const Case& of, const Result& result, const Graph& graph) {
  GpuNodes nodes;
  for (const auto& rank : ranks_of_case(result, of)) {
    const auto device = rank.value("device", Json());
    if (!device.is_object()) continue;
    const auto pci = device.value("pci", Json());
    if (!pci.is_string()) continue;
    const auto node =
        find_pci_on(graph, text_at(rank, "/host"), normal_pci(pci.get<std::string>()));
    if (node != Node::none) nodes[rank.at("rank").get<int>()] = node;
  }
  return nodes;
}

std::set<std::size_t> nics_of(const Carrier& carrier, const Graph& graph) {
  std::set<std::size_t> nics;
  for (const auto& lane : carrier.lanes) {  // "rc_mlx5/mlx5_0:1"
    const auto begin = lane.find('/') + 1;
    const auto node = graph.find_name(lane.substr(begin, lane.find(':', begin) - begin));
    if (node != Node::none && graph.nodes[node].kind == NodeKind::nic) nics.insert(node);
  }
  return nics;
}

/// The flow of a pair by what carried it; empty where that leaves it open.
std::optional<Flow> flow_of(const Graph& graph, const Carrier& carrier, std::size_t from,
                            std::size_t to) {
  Flow flow{.from = from, .to = to};
  const auto fabric = fabric_of(carrier.name);
  if (fabric == Fabric::gpu_links) return flow;
  if (fabric == Fabric::sockets || fabric == Fabric::shared_memory) {
    flow.via = via_host_memory(graph, from);
    return flow;
  }
  if (fabric != Fabric::rdma) return std::nullopt;
  flow.via = via_nearest_nics(graph, from, to);
  const bool nearest = !flow.via.empty() && nics_of(carrier, graph) == std::set{flow.via.front()};
  return nearest ? std::optional(flow) : std::nullopt;
}

}  // namespace

std::vector<GpuPair> gpu_pairs(const Case& of, const Result& result, const Graph& graph) {
  std::vector<GpuPair> pairs;
  if (!at_place(of, "cuda")) return pairs;
  const auto nodes = gpus_of_ranks(of, result, graph);
  const Carriers carriers(of);
  for (std::size_t index = 0; index < of.pairs.size(); ++index) {
    const auto& pair = of.pairs[index];
    const auto from = nodes.find(pair.at("src").get<int>());
    const auto to = nodes.find(pair.at("dst").get<int>());
    if (from == nodes.end() || to == nodes.end() || from->second == to->second) continue;
    const bool apart = graph.nodes[from->second].host != graph.nodes[to->second].host;
    const auto distance = class_between(graph, from->second, to->second).distance;
    const auto& carrier = carriers.between(from->first, to->first);
    if (apart && (distance != Distance::mnnvl || fabric_of(carrier.name) != Fabric::gpu_links))
      continue;
    pairs.push_back({index, from->second, to->second, carrier.name,
                     flow_of(graph, carrier, from->second, to->second)});
    if (auto& flow = pairs.back().flow) flow->bytes = load_of(of, pair);
  }
  return pairs;
}

}  // namespace ucxbench
