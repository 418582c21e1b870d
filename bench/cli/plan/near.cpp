#include "bench/cli/plan/near.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/topology/cpu_mask.hpp"
#include "harness/transports/rdma_ports.hpp"

namespace ucxbench {
namespace {

std::optional<std::size_t> gpu_node(const Wiring& wiring, const std::vector<int>& devices,
                                    std::size_t rank) {
  if (wiring.gpus.empty()) return std::nullopt;
  const auto index = devices.empty() ? rank % wiring.gpus.size()
                                     : static_cast<std::size_t>(devices[rank % devices.size()]);
  const auto pci = index < wiring.gpus.size() ? normal_pci(wiring.gpus[index]) : "";
  const auto node = pci.empty() ? Node::none : wiring.graph.find_pci(pci);
  return node == Node::none ? std::nullopt : std::optional(node);
}

std::optional<std::size_t> numa_with(const Graph& graph, std::vector<int> cpus) {
  std::ranges::sort(cpus);
  for (const auto numa : graph.of_kind(NodeKind::numa)) {
    const auto& near = graph.nodes[numa].cpus;
    if (near && is_part_of(cpus, *near)) return numa;
  }
  return std::nullopt;
}

/// "mlx5_0:1" of the NIC of that name.
std::string port_of_nic(const Wiring& wiring, std::size_t nic) {
  const auto found = std::ranges::find_if(wiring.rdma_ports, [&](const std::string& port) {
    return port.substr(0, port.find(':')) == wiring.graph.nodes[nic].name;
  });
  return found == wiring.rdma_ports.end() ? "" : *found;
}

}  // namespace

Wiring wiring_of(const Probe& found) {
  Wiring wiring;
  if (found.topology.is_object()) wiring.graph = graph_from_json(found.topology);
  for (const auto& gpu : found.gpus) wiring.gpus.push_back(gpu.pci);
  wiring.rdma_ports = active_rdma_ports();
  return wiring;
}

DataPlaces data_of_ranks(const Wiring& wiring, const std::vector<std::vector<int>>& cpus,
                         const std::vector<int>& devices, bool on_gpu, bool beside_nics) {
  auto data = spread_over_numa(wiring.graph, cpus.size(), beside_nics);
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    if (on_gpu) {
      data[rank] = gpu_node(wiring, devices, rank);
    } else if (const auto numa = numa_with(wiring.graph, cpus[rank])) {
      data[rank] = numa;
    }
  }
  return data;
}

ChosenCpus cpus_by_wiring(const Wiring& wiring, const std::vector<std::vector<int>>& otherwise,
                          const std::vector<int>& devices, bool on_gpu, bool beside_nics,
                          const std::vector<int>& allowed, int threads) {
  const auto unchanged = [&](const char* why) {
    return ChosenCpus{otherwise, fmt::format("in the order of the cores: {}", why)};
  };
  const auto unbound = [](const std::vector<int>& cpus) { return cpus.empty(); };
  if (std::ranges::any_of(otherwise, unbound)) {
    return {otherwise, "none: there are fewer CPUs than ranks"};
  }
  const auto numas = wiring.graph.of_kind(NodeKind::numa).size();
  if (numas == 0) return unchanged("the topology has no NUMA node");
  if (numas == 1) return unchanged("the topology has one NUMA node");
  const std::vector<std::vector<int>> not_yet(otherwise.size());
  const auto data = data_of_ranks(wiring, not_yet, devices, on_gpu, beside_nics);
  auto near = bind_near(wiring.graph, data, allowed, threads);
  if (!near) return unchanged("too few CPUs are known to be near to the ranks' data");
  return {*near, on_gpu        ? "near to each rank's GPU"
                 : beside_nics ? "pairs of ranks in turn on the NUMA nodes that have a NIC"
                               : "pairs of ranks in turn on the NUMA nodes"};
}

std::vector<std::string> nearest_net_devices(const Wiring& wiring, const DataPlaces& data,
                                             const TransportSet& set, const std::string& route) {
  if (route == "all") return {};
  const auto usable = [&](std::size_t nic) { return !port_of_nic(wiring, nic).empty(); };
  const auto nics = nearest_nic_each(wiring.graph, data, usable);
  const bool tcp = set.may_use(Fabric::sockets);
  std::vector<std::string> devices;
  for (const auto& nic : nics) {
    if (!nic) return {};
    devices.push_back((tcp ? route + "," : "") + port_of_nic(wiring, *nic));
  }
  return devices;
}

}  // namespace ucxbench
