#include "harness/topology/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/json.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Two GPUs and a NIC under one switch, the GPUs joined by `nvlinks`; the NIC first if `turned`.
Graph small_machine(int nvlinks, const std::string& prefix = "", bool turned = false) {
  auto graph = graph_of_host("test");
  graph.nodes[0].name = prefix + "host";
  std::vector<std::pair<NodeKind, std::string>> devices = {{NodeKind::gpu, prefix + "GPU0"},
                                                           {NodeKind::gpu, prefix + "GPU1"},
                                                           {NodeKind::nic, prefix + "mlx5_0"}};
  if (turned) std::reverse(devices.begin(), devices.end());
  const auto numa = add_node(graph, NodeKind::numa, prefix + "NUMA0");
  const auto bridge = add_node(graph, NodeKind::host_bridge, prefix + "pci0000:00");
  const auto pcie_switch = add_node(graph, NodeKind::bridge, prefix + "switch");
  attach_inside(graph, numa, 0);
  attach_inside(graph, bridge, numa);
  attach_pcie(graph, pcie_switch, bridge, pcie_capacity(16, 16), "");
  for (const auto& [kind, name] : devices) {
    attach_pcie(graph, add_node(graph, kind, name), pcie_switch, pcie_capacity(16, 16), "");
  }
  const auto gpus = graph.of_kind(NodeKind::gpu);
  for (const auto self : {0U, 1U}) {
    add_nvlinks(graph, gpus[self], {{gpus[1 - self], nvlinks}}, link_specification("NVLink 3"));
  }
  return graph;
}

TEST(PathClass, IsNamedAsNvidiaSmiNamesIt) {
  for (const char* word : {"X", "NV1", "NV18", "PIX", "PXB", "PHB", "NODE", "SYS", "NET", "?"}) {
    const auto path_class = parse_path_class(word);
    ASSERT_TRUE(path_class) << word;
    EXPECT_EQ(to_string(*path_class), word);
  }
  EXPECT_EQ(to_string(*parse_path_class("SOC")), "SYS");
  EXPECT_EQ(to_string(*parse_path_class("PSB")), "PIX");
  for (const char* word : {"", "NV", "NV0", "NV-1", "NV1x", "NV100", "pix", "SY", "OK"}) {
    EXPECT_FALSE(parse_path_class(word)) << word;
  }
}

TEST(Pci, HasOneForm) {
  EXPECT_EQ(normal_pci("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci("0000E000:02:00.0"), "e000:02:00.0");
  EXPECT_EQ(normal_pci("10000:e1:00.0"), "10000:e1:00.0");
  for (const char* wrong :
       {"", "pci0000:00", "3b:00.0", "0000:3b:00", "0000:3b:00:0", "0000:3g:00.0"}) {
    EXPECT_EQ(normal_pci(wrong), "") << wrong;
  }
}

TEST(Graph, ListsDevicesByNumber) {
  auto graph = graph_of_host("test");
  for (const char* name : {"GPU10", "mlx5_1", "GPU2", "mlx5_0"}) {
    add_node(graph, name[0] == 'G' ? NodeKind::gpu : NodeKind::nic, name);
  }
  std::vector<std::string> names;
  for (const auto device : graph.devices()) names.push_back(graph.nodes[device].name);
  EXPECT_EQ(names, (std::vector<std::string>{"GPU2", "GPU10", "mlx5_0", "mlx5_1"}));
}

TEST(Hash, IsOfTheWiringAlone) {
  const auto hash = hash_of(small_machine(4));
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_EQ(hash_of(small_machine(4, "node07 ")), hash);
  EXPECT_EQ(hash_of(small_machine(4, "", true)), hash);
  auto trained_lower = small_machine(4);
  trained_lower.links.front().now_GBps = 1;
  trained_lower.nodes.back().state = "DOWN";
  trained_lower.nodes.back().pci = "0000:01:00.0";
  EXPECT_EQ(hash_of(trained_lower), hash);
  auto up = small_machine(4);
  auto down = small_machine(4);
  attach_cable(up, up.find_name("mlx5_0"), ethernet_capacity(25000));
  attach_cable(down, down.find_name("mlx5_0"), std::nullopt);
  EXPECT_EQ(hash_of(up), hash_of(down));
}

TEST(Hash, TellsMachinesApart) {
  const auto hash = hash_of(small_machine(4));
  EXPECT_NE(hash_of(small_machine(2)), hash);
  auto slower = small_machine(4);
  for (auto& link : slower.links) {
    if (link.link_class == LinkClass::pcie) link.specified_GBps = pcie_capacity(8, 16)->GBps;
  }
  EXPECT_NE(hash_of(slower), hash);
  auto farther = small_machine(4);
  farther.stated[{4, 6}] = {Distance::sys, 0};
  EXPECT_NE(hash_of(farther), hash);
}

TEST(Json, GivesTheSameGraphAgain) {
  auto graph = small_machine(4);
  graph.nodes[4].cpus = std::vector<int>{0, 1, 2, 8};
  graph.nodes[4].numa_node = 1;
  graph.nodes[4].pci = "0000:3b:00.0";
  graph.links[2].now_GBps = 2.5;
  const auto json = to_json(graph);
  const auto again = graph_from_json(Json::parse(json.dump()));
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(hash_of(again), hash_of(graph));
  EXPECT_EQ(to_string(class_between(again, 4, 5)), "NV4");
  EXPECT_EQ(again.parent_of(4), graph.parent_of(4));
}

TEST(Json, UnknownIsNull) {
  const auto json = to_json(graph_of_host("test"));
  const auto& host = json.at("devices").at(0);
  for (const char* key :
       {"alias", "model", "pci", "state", "numa_node", "cpu_affinity", "parent"}) {
    EXPECT_TRUE(host.at(key).is_null()) << key;
  }
}

TEST(Json, RefusesWhatIsNoTopology) {
  const auto whole = to_json(small_machine(4));
  const auto refused = [](const Json& json) { return refusal_by([&] { graph_from_json(json); }); };
  EXPECT_NE(refused({}).find("not a topology"), std::string::npos);
  EXPECT_NE(refused({{"devices", 3}}).find("not a topology"), std::string::npos);
  auto json = whole;
  json["devices"][1]["name"] = "host";
  EXPECT_NE(refused(json).find("two devices"), std::string::npos);
  json = whole;
  json["links"][0]["to"] = "nobody";
  EXPECT_NE(refused(json).find("'nobody'"), std::string::npos);
  json = whole;
  json["links"][0]["spec_GBps"] = -1;
  EXPECT_NE(refused(json).find("spec_GBps"), std::string::npos);
  json = whole;
  json["pairs"][0]["class"] = "NEAR";
  EXPECT_NE(refused(json).find("'NEAR'"), std::string::npos);
  json = whole;
  json["devices"][0]["parent"] = "GPU0";
  EXPECT_NE(refused(json).find("no link"), std::string::npos) << refused(json);
  json["devices"][0]["parent"] = "NUMA0";
  json["links"].push_back(whole["links"][1]);
  json["links"].push_back(whole["links"][0]);
  EXPECT_NE(refused(json).find("hangs from itself"), std::string::npos) << refused(json);
}

}  // namespace
}  // namespace ucxbench
