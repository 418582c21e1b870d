#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

/// An adapter at a host bridge, its PCIe link trained to `now` of 63 GB/s.
Json topology_with_nic(std::optional<double> now, const std::string& state) {
  auto graph = graph_of_host("test");
  const auto bridge = add_node(graph, NodeKind::host_bridge, "bridge");
  const auto nic = add_node(graph, NodeKind::nic, "mlx5_0");
  Link link;
  link.link_class = LinkClass::pcie;
  link.specified_GBps = 63;
  link.now_GBps = now;
  graph.attach(nic, bridge, link);
  graph.nodes[nic].state = state;
  return to_json(graph);
}

Result asked_for(const std::string& transports) {
  auto result = made_run();
  result.cases = {made_case(8, {transports})};
  return result;
}

TEST(SlowPcie, IsBelowWhatBothEndsCanDo) {
  auto result = made_run();
  result.topology = topology_with_nic(15.75, "ACTIVE");
  EXPECT_EQ(said(slow_pcie, result),
            Said{"mlx5_0: the PCIe link above mlx5_0 runs at 15.8 of 63.0 GB/s"});
  for (const std::optional<double> now : {std::optional(63.0), std::optional<double>()}) {
    result.topology = topology_with_nic(now, "ACTIVE");
    EXPECT_EQ(said(slow_pcie, result), Said());
  }
}

TEST(PortDown, MattersWhereInfiniBandIsAskedFor) {
  auto result = asked_for("ib");
  result.topology = topology_with_nic(63, "DOWN");
  EXPECT_EQ(said(port_down, result), Said{"mlx5_0: its port is DOWN: it carried nothing"});
  result.cases[0].parameters["transports"] = {"tcp"};
  EXPECT_EQ(said(port_down, result), Said());
  result = asked_for("ib");
  for (const auto* state : {"ACTIVE", "down", ""}) {
    result.topology = topology_with_nic(63, state);
    EXPECT_EQ(said(port_down, result), Said()) << state;
  }
}

TEST(Governor, IsNamedUnlessItIsPerformance) {
  auto result = made_run();
  auto& governor_of_host = result.machine["hosts"][0]["governor"];
  governor_of_host = "powersave";
  EXPECT_EQ(said(governor, result),
            Said{"node07: the CPU frequency governor is powersave: latencies follow the clock"});
  governor_of_host = "performance";
  EXPECT_EQ(said(governor, result), Said());
  governor_of_host = nullptr;  // of a virtual machine
  EXPECT_EQ(said(governor, result), Said());
}

TEST(NumaBalancing, MattersWithSeveralNodes) {
  auto result = made_run();
  auto& host = result.machine["hosts"][0];
  host["numa_nodes"] = 2;
  host["numa_balancing"] = true;
  EXPECT_EQ(said(numa_balancing, result).size(), 1U);
  host["numa_balancing"] = false;
  EXPECT_EQ(said(numa_balancing, result), Said());
  host["numa_balancing"] = nullptr;
  EXPECT_EQ(said(numa_balancing, result), Said());
  host["numa_balancing"] = true;
  host["numa_nodes"] = 1;
  EXPECT_EQ(said(numa_balancing, result), Said());
}

TEST(BusyHost, IsHeldAgainstTwoRanksBeforeARun) {
  auto result = made_run();
  auto& host = result.machine["hosts"][0];
  host["hardware_threads"] = 2;
  host["load_1min"] = 21;
  EXPECT_EQ(said(busy_host, result).size(), 1U);
  host["hardware_threads"] = 64;
  EXPECT_EQ(said(busy_host, result), Said());
}

TEST(BusyHost, HadMoreToDoThanItHasCpus) {
  auto result = made_run();
  for (const int cpu : {0, 1}) add_rank(result, Json::array({cpu}));
  auto& host = result.machine["hosts"][0];
  host["hardware_threads"] = 2;
  host["load_1min"] = 1.4;
  EXPECT_EQ(said(busy_host, result),
            Said{"node07: load average 1.4 on 2 CPUs before the run: only 0.60 CPUs are left for 2 "
                 "ranks"});
  host["load_1min"] = 2;
  EXPECT_EQ(said(busy_host, result),
            Said{"node07: load average 2.0 on 2 CPUs before the run: no CPU is left for 2 ranks"});
  host["load_1min"] = 0.1;
  EXPECT_EQ(said(busy_host, result), Said());
  host["load_1min"] = 1.4;
  host["hardware_threads"] = 4;
  EXPECT_EQ(said(busy_host, result), Said());
}

SeenProcessors moved(SeenProcessors seen) {
  for (auto& at : seen) at->apart_ns = 110;
  return seen;
}

TEST(MovedProcessors, AreThoseThatLaunchesMetDifferently) {
  auto result = made_run();
  for (const int cpu : {0, 1}) add_rank(result, Json::array({cpu}));
  result.cases = {made_case(8, {"shm"})};
  for (int launch = 0; launch < 4; ++launch) {
    const Processors seen{launch == 1 ? 220.0 : 50.0, 90};
    result.cases[0].launches.push_back({.launch = launch, .processors = {seen, seen}});
  }
  EXPECT_EQ(said(moved_processors, result),
            Said{"node07: placement changed between launches: the hypervisor moved the CPUs (2 "
                 "placements, 50 to 220 ns apart)"});
  for (auto& record : result.cases[0].launches) {
    const auto same = record.processors;
    record.processors_elsewhere = {{"node08", record.launch == 2 ? moved(same) : same}};
  }
  result.cases[0].launches.erase(result.cases[0].launches.begin() + 1);
  EXPECT_EQ(said(moved_processors, result),
            Said{"node08: placement changed between launches: the hypervisor moved the CPUs (2 "
                 "placements, 50 to 110 ns apart)"});
  result.cases[0].launches.erase(result.cases[0].launches.begin() + 1);
  EXPECT_EQ(said(moved_processors, result), Said());
}

TEST(EmulatedCpu, IsNoPerformanceFigure) {
  auto result = made_run();
  EXPECT_EQ(said(emulated_cpu, result), Said());
  result.machine["labels"].push_back("emulated-cpu");
  EXPECT_EQ(said(emulated_cpu, result),
            Said{"machine: the CPU is emulated: no figure is a performance figure"});
}

TEST(PartialRun, SaysHowItEnded) {
  auto result = made_run();
  EXPECT_EQ(said(partial_run, result), Said());
  result.run["state"] = "interrupted";
  EXPECT_EQ(said(partial_run, result), Said{"run: the run is interrupted: results are partial"});
}

TEST(WrongData, IsCounted) {
  auto result = asked_for("tcp");
  EXPECT_EQ(said(wrong_data, result), Said());
  result.cases[0].verified.errors = 2;
  EXPECT_EQ(said(wrong_data, result),
            Said{"pingpong tag, host to host, over tcp: 2 messages arrived with wrong data"});
}

}  // namespace
}  // namespace ucxbench
