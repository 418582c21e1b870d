#include <fmt/format.h>

#include <set>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Of the capacity: what two decimals of a generation's rate may differ by.
constexpr double rounding = 0.99;

bool any_asks_for(const Judged& run, const std::string& member) {
  for (const auto& of : run.result.cases) {
    if (asks_for(of, member)) return true;
  }
  return false;
}

}  // namespace

std::vector<Finding> governor(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& host : hosts_of(run)) {
    const auto governor = text_at(host, "/governor", "");
    if (governor.empty() || governor == "performance") continue;
    findings.push_back({.subject = text_at(host, "/name"),
                        .evidence = "the CPU frequency governor is " + governor +
                                    ": clocks follow the load, and latencies with them",
                        .next = "cpupower frequency-set -g performance"});
  }
  return findings;
}

std::vector<Finding> numa_balancing(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& host : hosts_of(run)) {
    if (!is_set(host, "numa_balancing") || number_at(host, "numa_nodes").value_or(1) < 2) continue;
    findings.push_back({.subject = text_at(host, "/name"),
                        .evidence =
                            "automatic NUMA balancing is on: the kernel unmaps pages to see "
                            "who touches them, and moves them, while it is measured",
                        .next = "sysctl kernel.numa_balancing=0"});
  }
  return findings;
}

// Not of GPUs: an idle one lowers its link, and the topology is read before the run.
std::vector<Finding> slow_pcie(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto nic : run.graph.of_kind(NodeKind::nic)) {
    for (auto at = nic; at != Node::none; at = run.graph.parent_of(at)) {
      const auto up = run.graph.nodes[at].up;
      if (up == Node::none) break;
      const auto& link = run.graph.links[up];
      if (link.link_class != LinkClass::pcie || !link.now_GBps || !link.specified_GBps) continue;
      if (*link.now_GBps >= rounding * *link.specified_GBps) continue;
      findings.push_back(
          {.subject = run.graph.nodes[nic].name,
           .evidence =
               fmt::format("PCIe above {} has trained to {} of {} GB/s", run.graph.nodes[at].name,
                           significant(link.now_GBps, 3), significant(link.specified_GBps, 3)),
           .next = "ucx-bench topo; reseat the card, or look at the slot's lanes in the BIOS"});
    }
  }
  return findings;
}

std::vector<Finding> port_down(const Judged& run) {
  if (!any_asks_for(run, "ib")) return {};
  std::vector<Finding> findings;
  for (const auto nic : run.graph.of_kind(NodeKind::nic)) {
    const auto& node = run.graph.nodes[nic];
    // RDMA ports are in capitals, of an Ethernet card there is "down".
    if (node.state != "DOWN" && node.state != "INIT" && node.state != "ARMED") continue;
    findings.push_back({.subject = node.name,
                        .evidence = "its port is " + node.state + ": it carried nothing",
                        .next = "ibstat " + node.name});
  }
  return findings;
}

std::vector<Finding> busy_host(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& host : hosts_of(run)) {
    const auto load = number_at(host, "load_1min");
    const auto threads = number_at(host, "hardware_threads");
    std::size_t ranks = 0;
    for (const auto& rank : run.ranks) ranks += rank.host == text_at(host, "/name") ? 1 : 0;
    if (!load || !threads || ranks == 0 || *load < 0.5) continue;
    const auto busy = static_cast<double>(ranks);
    // More ranks than CPUs is what shared-cpus says.
    if (busy > *threads || busy + *load <= *threads) continue;
    findings.push_back(
        {.subject = text_at(host, "/name"),
         .evidence = fmt::format("in the minute before, {} programs were running; with {} that is "
                                 "more than its {} CPUs",
                                 significant(load, 2), counted(ranks, "rank"),
                                 text_at(host, "/hardware_threads")),
         .next = "close other programs, and run it again"});
  }
  return findings;
}

}  // namespace ucxbench
