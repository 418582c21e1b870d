#include "harness/analysis/limits/network_pairs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/analysis/limits/carriers.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/core/text.hpp"
#include "harness/core/units.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/transports.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

struct EndPlace {
  std::string host;
  std::size_t host_node = Node::none;
  std::size_t memory = Node::none;  ///< of the host's: a NUMA node, or the host where unknown
  std::size_t gpu = Node::none;
  std::vector<std::string> devices{};  ///< that UCX_NET_DEVICES names
};

std::set<int> cpu_set_of(const Json& rank) {
  std::set<int> cpus;
  for (const auto& cpu : rank.value("cpus", Json::array())) {
    if (cpu.is_number_integer()) cpus.insert(cpu.get<int>());
  }
  return cpus;
}

std::size_t memory_of(const Json& rank, const EndPlace& place, const Graph& graph) {
  const auto cpus = cpu_set_of(rank);
  for (const auto numa : graph.of_kind(NodeKind::numa)) {
    const auto& near = graph.nodes[numa].cpus;
    if (graph.nodes[numa].host != place.host || cpus.empty() || !near) continue;
    if (std::ranges::includes(*near, cpus)) return numa;
  }
  return place.host_node;
}

std::map<int, EndPlace> places_of(const Case& of, const Result& result, const Graph& graph) {
  std::map<int, EndPlace> places;
  for (const auto& rank : ranks_of_case(result, of)) {
    EndPlace place{.host = text_at(rank, "/host")};
    for (const auto host : graph.of_kind(NodeKind::host)) {
      if (graph.nodes[host].host == place.host) place.host_node = host;
    }
    if (place.host_node == Node::none) continue;  // of a file that lacks its wiring
    place.memory = memory_of(rank, place, graph);
    place.gpu = find_pci_on(graph, place.host, normal_pci(text_at(rank, "/device/pci", "")));
    if (place.gpu == Node::none) place.gpu = place.host_node;
    for (const auto& names : texts_of(rank.value("net_devices", Json()))) {
      for (const auto name : split_text(names, ',')) place.devices.emplace_back(name);
    }
    places[rank.at("rank").get<int>()] = std::move(place);
  }
  return places;
}

/// As UCX calls them; a port of an RDMA device is "mlx5_0:1".
std::set<std::string> devices_of(const Carrier& own, const EndPlace& place,
                                 const std::string& carrier) {
  std::set<std::string> devices;
  for (const auto& lane : own.used.empty() ? own.lanes : own.used) {
    if (transport_of_lane(lane) == carrier) devices.insert(lane.substr(lane.find('/') + 1));
  }
  if (!devices.empty()) return devices;
  for (const auto& device : place.devices) {
    const bool rdma = device.find(':') != std::string::npos;
    if (rdma == (fabric_of(carrier) == Fabric::rdma)) devices.insert(device);
  }
  return devices;
}

/// Empty where any is not known.
std::vector<std::size_t> nics_of(const std::set<std::string>& devices, const EndPlace& place,
                                 const Graph& graph) {
  std::vector<std::size_t> nics;
  for (const auto& device : devices) {
    const auto nic = find_nic_on(graph, place.host, device);
    if (nic == Node::none) return {};
    nics.push_back(nic);
  }
  return nics;
}

}  // namespace

std::vector<GpuPair> network_pairs(const Case& of, const Result& result, const Graph& graph) {
  std::vector<GpuPair> pairs;
  const auto places = places_of(of, result, graph);
  const auto memory = texts_of(of.parameters.value("memory", Json()));
  const auto on_gpu = [&](std::size_t end) {
    return memory.size() == 2 && place_of_memory(memory[end]) == "cuda";
  };
  const Carriers carriers(of);
  const Carrier unknown;
  for (std::size_t index = 0; index < of.pairs.size(); ++index) {
    const auto& pair = of.pairs[index];
    const auto src = places.find(pair.at("src").get<int>());
    const auto dst = places.find(pair.at("dst").get<int>());
    if (src == places.end() || dst == places.end()) continue;
    const auto& from = src->second;
    const auto& to = dst->second;
    const auto& there = carriers.between(src->first, dst->first);
    const auto fabric = fabric_of(there.name);
    if (from.host == to.host || (fabric != Fabric::sockets && fabric != Fabric::rdma)) continue;
    // Of a workload one record speaks for all: its lanes are rank 0's.
    const auto& sends = is_exchange(of) ? unknown : there;
    const auto& back = is_exchange(of) ? unknown : carriers.between(dst->first, src->first);
    const auto& receives = back.name == there.name ? back : unknown;
    Flow flow{.from = on_gpu(0) ? from.gpu : from.memory,
              .to = on_gpu(1) ? to.gpu : to.memory,
              .bytes = load_of(of, pair)};
    flow.rails = {.out = nics_of(devices_of(sends, from, there.name), from, graph),
                  .in = nics_of(devices_of(receives, to, there.name), to, graph)};
    pairs.push_back({index, flow.from, flow.to, there.name, std::move(flow)});
  }
  return pairs;
}

}  // namespace ucxbench
