#include "harness/analysis/limits/network_pairs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/limits/run_limits.hpp"
#include "harness/analysis/wired_hosts.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/topology/build.hpp"

namespace ucxbench {
namespace {

/// One NUMA node of CPUs 0 and 1, behind one PCIe link of `switch_GBps` two NICs, mlx5_0 and
/// mlx5_1, of the `port` each, and a GPU.
struct Wired {
  Graph graph = graph_of_host("test");

  explicit Wired(std::optional<double> port, double switch_GBps = 100) {
    const auto numa = add(NodeKind::numa, "NUMA0", "");
    graph.nodes[numa].cpus = std::vector<int>{0, 1};
    attach_inside(graph, numa, 0);
    const auto bridge = add(NodeKind::bridge, "switch", "0000:01:00.0");
    attach_pcie(graph, bridge, numa, Capacity{switch_GBps, "PCIe of the switch"}, "");
    for (const auto* name : {"mlx5_0", "mlx5_1"}) {
      const auto nic = add(NodeKind::nic, name, "");
      graph.nodes[nic].alias = name + std::string("_net");
      graph.nodes[nic].state = "DOWN";
      attach_pcie(graph, nic, bridge, Capacity{60, "PCIe of the NIC"}, "");
      attach_cable(graph, nic, port ? std::optional(Capacity{*port, "its port"}) : std::nullopt);
    }
    attach_pcie(graph, add(NodeKind::gpu, "GPU0", "0000:02:00.0"), bridge, Capacity{50, "PCIe"},
                "");
  }

  std::size_t add(NodeKind kind, const std::string& name, const std::string& pci) {
    Node node;
    node.kind = kind;
    node.name = name;
    node.pci = pci;
    return graph.add(std::move(node));
  }
};

/// A rank on each of several hosts.
struct HostsRun {
  Result result;

  explicit HostsRun(const std::vector<Graph>& hosts) {
    result.machine = {{"hosts", Json::array()}};
    for (std::size_t at = 0; at < hosts.size(); ++at) {
      const auto name = "node" + std::to_string(at);
      Json host = {{"name", name}};
      if (at == 0) {
        result.topology = to_json(hosts[at]);
      } else {
        host["topology"] = to_json(hosts[at]);
      }
      result.machine["hosts"].push_back(host);
      result.ranks.push_back({{"rank", at},
                              {"host", name},
                              {"cpus", {1}},
                              {"device", {{"pci", "0000:02:00.0"}}},
                              {"net_devices", "mlx5_0:1,mlx5_0_net"}});
    }
    Case of;
    of.parameters = {{"memory", {"host", "host"}}, {"transports", {"ib"}}, {"concurrent", "one"}};
    of.state = CaseState::measured;
    of.shows = shows_of_older(of);
    result.cases.push_back(of);
  }

  Case& of() { return result.cases.front(); }

  void send(int src, int dst, const std::string& carrier, std::vector<std::string> lanes) {
    of().pairs.push_back({{"src", src}, {"dst", dst}, {"p50_GBps", 1.0}});
    LaunchRecord record{.src = src, .dst = dst, .lanes = std::move(lanes)};
    record.path = {{"carried_by", {{carrier, 1.0}}}};
    of().launches.push_back(record);
  }

  Json limit() {
    add_limits(result);
    EXPECT_EQ(of().limits.size(), 1U);
    return of().limits.empty() ? Json() : of().limits.back();
  }
};

TEST(LimitsOfTheNetwork, AreOfTheSlowerPort) {
  HostsRun run({Wired(25).graph, Wired(12.5).graph});
  run.send(0, 1, "ib", {"rc_mlx5/mlx5_0:1", "ud_mlx5/mlx5_0:1"});
  const auto row = run.limit();
  EXPECT_EQ(row["class"], "NET");
  EXPECT_EQ(row["path"], "ib");
  EXPECT_EQ(row["GBps"], 12.5);
  EXPECT_EQ(row["complete"], true);
  EXPECT_EQ(row["resource"], "port network on node1 -> mlx5_0 on node1");
  EXPECT_EQ(run.of().pairs[0]["limit_GBps"], 12.5);
}

TEST(LimitsOfTheNetwork, AreOfPcieWhereThatIsSlower) {
  HostsRun run({Wired(25).graph, Wired(25, 8).graph});
  run.send(0, 1, "ib", {"rc_mlx5/mlx5_0:1"});
  const auto row = run.limit();
  EXPECT_EQ(row["GBps"], 8);
  EXPECT_EQ(row["resource"], "PCIe switch on node1 -> NUMA0 on node1");
}

TEST(LimitsOfTheNetwork, OfSeveralRailsAddUp) {
  const std::vector<std::string> both = {"rc_mlx5/mlx5_0:1", "rc_mlx5/mlx5_1:1"};
  HostsRun run({Wired(25).graph, Wired(25).graph});
  run.send(0, 1, "ib", both);
  run.send(1, 0, "ib", both);
  const auto row = run.limit();
  EXPECT_EQ(row["GBps"], 50);
  EXPECT_EQ(row["pairs"], 2);
  EXPECT_EQ(row["detail"], "its port; by mlx5_0 and mlx5_1 to mlx5_0 and mlx5_1");
  // They share what is above both.
  HostsRun shared({Wired(25).graph, Wired(25, 30).graph});
  shared.send(0, 1, "ib", both);
  shared.send(1, 0, "ib", both);
  EXPECT_EQ(shared.limit()["GBps"], 30);
}

TEST(LimitsOfTheNetwork, AreNotKnownWhereAPortIsNot) {
  HostsRun run({Wired(25).graph, Wired(std::nullopt).graph});
  run.send(0, 1, "ib", {"rc_mlx5/mlx5_0:1"});
  auto row = run.limit();
  EXPECT_EQ(row["GBps"], 25);
  EXPECT_EQ(row["complete"], false);
  // As of a virtual device, which hangs from no PCIe link.
  HostsRun virtual_device({Wired(25).graph, Wired(25).graph});
  virtual_device.send(0, 1, "tcp", {"tcp/eth7"});
  virtual_device.result.ranks[1]["net_devices"] = "eth7";
  add_limits(virtual_device.result);
  EXPECT_EQ(virtual_device.of().pairs[0]["class"], "NET");
  EXPECT_TRUE(virtual_device.of().pairs[0]["limit_GBps"].is_null());
  EXPECT_TRUE(virtual_device.of().limits.empty());
}

TEST(LimitsOfTheNetwork, OfTcpAreByTheNetworkDevicesNames) {
  HostsRun run({Wired(1.25).graph, Wired(3.125).graph});
  run.send(0, 1, "tcp", {"tcp/mlx5_0_net"});
  EXPECT_EQ(run.limit()["GBps"], 1.25);
}

TEST(LimitsOfTheNetwork, OfAHostWiredAlikeAreByItsName) {
  HostsRun run({Wired(25).graph, Wired(12.5).graph, Wired(1).graph});
  run.result.machine["hosts"][2]["topology"] = "node1";
  run.send(0, 2, "ib", {"rc_mlx5/mlx5_0:1"});
  EXPECT_EQ(run.limit()["resource"], "port network on node2 -> mlx5_0 on node2");
  EXPECT_EQ(run.of().pairs[0]["limit_GBps"], 12.5);
}

TEST(LimitsOfTheNetwork, OfNvlinksToAnotherHostAreAClassOfTheirOwn) {
  const auto* generation = nvlink_of_compute_capability(100);
  std::vector<Graph> hosts;
  for (const auto* fabric : {"c1/0", "c1/0", "c1/1"}) {
    auto graph = Wired(50).graph;
    const auto gpu = graph.find_name("GPU0");
    graph.nodes[gpu].fabric = fabric;
    add_nvlinks(graph, gpu, {{switch_at(graph, ""), 18}}, generation);
    hosts.push_back(graph);
  }
  HostsRun run(hosts);
  run.of().parameters["memory"] = {"cuda", "cuda"};
  run.send(0, 1, "nvlink", {"cuda_ipc/cuda"});
  run.send(0, 2, "ib", {"rc_mlx5/mlx5_0:1"});
  add_limits(run.result);
  EXPECT_EQ(run.of().pairs[0]["class"], "MNNVL");
  EXPECT_EQ(run.of().pairs[0]["limit_GBps"], 900);
  EXPECT_EQ(run.of().pairs[1]["class"], "NET");  // of another clique
  EXPECT_EQ(run.of().pairs[1]["limit_GBps"], 50);
}

std::map<std::string, std::string> subjects_of(const Result& result) {
  std::map<std::string, std::string> subjects;
  for (const auto& finding : findings_of(result)) {
    auto& all = subjects[finding.at("id").get<std::string>()];
    all += (all.empty() ? "" : "; ") + finding.at("subject").get<std::string>();
  }
  return subjects;
}

TEST(FindingsOfHosts, AreSaidOnceWhereTheyAreTheSame) {
  HostsRun run({Wired(25).graph, Wired(25).graph, Wired(25).graph});
  auto& hosts = run.result.machine["hosts"];
  for (auto& host : hosts) host["governor"] = "powersave";
  hosts[1]["turbo"] = hosts[2]["turbo"] = true;
  const auto subjects = subjects_of(run.result);
  EXPECT_EQ(subjects.at("governor"), "all 3 hosts");
  EXPECT_EQ(subjects.at("turbo"), "node1, node2");
  // Ports of hosts other than the first are seen too.
  EXPECT_EQ(subjects.at("port-down"), "mlx5_0 on all 3 hosts; mlx5_1 on all 3 hosts");
}

}  // namespace
}  // namespace ucxbench
