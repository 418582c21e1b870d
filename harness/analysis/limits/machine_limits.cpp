#include "harness/analysis/limits/machine_limits.hpp"

#include <algorithm>

#include "harness/core/json.hpp"
#include "harness/result/cases.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

struct GpuFlows {
  std::vector<Flow> direct;    ///< NVLink, else PCIe
  std::vector<Flow> by_nics;   ///< NVLink, else by way of the nearest NICs
  std::size_t by_nvlinks = 0;  ///< how many have NVLinks
  bool nics_known = true;      ///< of all the others
};

GpuFlows flows_between(const Graph& graph, const std::vector<std::size_t>& gpus) {
  GpuFlows flows;
  for (const auto from : gpus) {
    for (const auto to : gpus) {
      if (from == to) continue;
      Flow flow{.from = from, .to = to};
      flows.direct.push_back(flow);
      const auto path = path_between(graph, from, to);
      if (!path.links.empty() && graph.links[path.links.front()].link_class == LinkClass::nvlink) {
        ++flows.by_nvlinks;
      } else {
        flow.via = via_nearest_nics(graph, from, to);
        flows.nics_known = flows.nics_known && !flow.via.empty();
      }
      flows.by_nics.push_back(std::move(flow));
    }
  }
  return flows;
}

}  // namespace

std::vector<AllToAll> all_to_all_of(const Graph& graph, Basis basis) {
  return all_to_all_among(graph, graph.of_kind(NodeKind::gpu), basis);
}

std::vector<AllToAll> all_to_all_among(const Graph& graph, const std::vector<std::size_t>& gpus,
                                       Basis basis) {
  std::vector<AllToAll> found;
  const auto flows = flows_between(graph, gpus);
  const auto peers = static_cast<double>(gpus.size()) - 1;
  const auto add = [&](const std::string& route, const std::vector<Flow>& all) {
    auto limits = limits_of(graph, all, basis);
    if (!limits.seconds) return;
    const auto per_gpu = peers / *limits.seconds / 1e9;
    found.push_back({route, per_gpu, std::move(limits)});
  };
  const bool only_nvlinks = flows.by_nvlinks == flows.direct.size();
  const std::string first = flows.by_nvlinks == 0 ? "" : only_nvlinks ? "NVLink" : "NVLink, else ";
  add(first + (only_nvlinks ? "" : "PCIe"), flows.direct);
  if (!only_nvlinks && flows.nics_known) add(first + "the nearest NIC", flows.by_nics);
  return found;
}

std::vector<std::string> unknown_in(const Limits& limits) {
  std::vector<std::string> reasons;
  for (const auto index : limits.unknown) {
    add_once(reasons, limits.resources[index].source);
  }
  return reasons;
}

Json limits_json(const Graph& graph) {
  auto list = Json::array();
  for (const auto& all : all_to_all_of(graph)) {
    const auto& by = all.limits.resources[*all.limits.bottleneck];
    list.push_back({{"traffic", "every GPU to every other"},
                    {"route", all.route},
                    {"per_gpu_GBps", all.per_gpu_GBps},
                    {"resource", by.name},
                    {"resource_GBps", *by.GBps},
                    {"source", by.source},
                    {"unknown", unknown_in(all.limits)}});
  }
  return list;
}

}  // namespace ucxbench
