#include <fmt/format.h>

#include "harness/analysis/rules/rules.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Of the capacity: what two decimals of a generation's rate may differ by.
constexpr double nearly_full_rate = 0.99;

}  // namespace

// Not of GPUs: an idle one lowers its link, and the topology is read before the run.
std::vector<Finding> slow_pcie(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto nic : run.graph.of_kind(NodeKind::nic)) {
    for (auto at = nic; at != Node::none; at = run.graph.parent_of(at)) {
      const auto up = run.graph.nodes[at].up;
      if (up == Node::none) break;
      const auto& link = run.graph.links[up];
      if (link.link_class != LinkClass::pcie || !link.now_GBps || !link.specified_GBps) continue;
      if (*link.now_GBps >= nearly_full_rate * *link.specified_GBps) continue;
      findings.push_back(
          {.subject = own_name(run.graph.nodes[nic]),
           .evidence = fmt::format("the PCIe link above {} runs at {} of {} GB/s",
                                   own_name(run.graph.nodes[at]), significant(link.now_GBps, 3),
                                   significant(link.specified_GBps, 3)),
           .next = "reseat the card, or check the slot's lanes in the BIOS; see ucx-bench topo",
           .host = run.graph.nodes[nic].host,
           .device = own_name(run.graph.nodes[nic])});
    }
  }
  return findings;
}

std::vector<Finding> port_down(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto nic : run.graph.of_kind(NodeKind::nic)) {
    const auto& node = run.graph.nodes[nic];
    // RDMA ports are in capitals, of an Ethernet card there is "down".
    if (node.state != "DOWN" && node.state != "INIT" && node.state != "ARMED") continue;
    findings.push_back({.subject = own_name(node),
                        .evidence = "its port is " + node.state + ": it carried nothing",
                        .next = "check its cable and the subnet manager: ibstat " + own_name(node),
                        .host = node.host});
  }
  return findings;
}

}  // namespace ucxbench
