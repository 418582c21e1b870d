#include "harness/topology/path.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

/// Two sockets, each a NUMA node. On the first: GPU0, GPU1 and mlx5_0 under one switch; GPU2 under
/// another, both under a third; GPU3 at the same host bridge; mlx5_1 at another one. On the second:
/// GPU4 and mlx5_2.
struct Machine {
  Graph graph = graph_of_host("test");
  std::vector<std::size_t> gpus;
  std::vector<std::size_t> nics;
  std::vector<std::size_t> numas;

  Machine() {
    std::vector<std::size_t> bridges;
    for (const char* number : {"0", "1"}) {
      const auto socket = add_node(graph, NodeKind::socket, std::string("socket") + number);
      attach_across(graph, socket, 0, "links between sockets unknown");
      numas.push_back(add_node(graph, NodeKind::numa, std::string("NUMA") + number));
      attach_inside(graph, numas.back(), socket);
      graph.nodes[numas.back()].numa_node = number[0] - '0';
      graph.nodes[numas.back()].cpus = std::vector<int>{number[0] - '0'};
    }
    for (const auto numa : {numas[0], numas[0], numas[1]}) {
      bridges.push_back(
          add_node(graph, NodeKind::host_bridge, "bridge" + std::to_string(bridges.size())));
      attach_inside(graph, bridges.back(), numa);
    }
    const auto top = pcie(NodeKind::bridge, "top", bridges[0], 16);
    const auto near = pcie(NodeKind::bridge, "near", top, 16);
    const auto far = pcie(NodeKind::bridge, "far", top, 16);
    gpus = {pcie(NodeKind::gpu, "GPU0", near, 16), pcie(NodeKind::gpu, "GPU1", near, 16),
            pcie(NodeKind::gpu, "GPU2", far, 8), pcie(NodeKind::gpu, "GPU3", bridges[0], 16),
            pcie(NodeKind::gpu, "GPU4", bridges[2], 16)};
    nics = {pcie(NodeKind::nic, "mlx5_0", near, 4), pcie(NodeKind::nic, "mlx5_1", bridges[1], 16),
            pcie(NodeKind::nic, "mlx5_2", bridges[2], 16)};
  }

  std::size_t pcie(NodeKind kind, const std::string& name, std::size_t parent, int lanes) {
    const auto node = add_node(graph, kind, name);
    attach_pcie(graph, node, parent, pcie_capacity(8, lanes), "");
    return node;
  }

  std::string between(std::size_t a, std::size_t b) const {
    EXPECT_EQ(class_between(graph, a, b), class_between(graph, b, a));
    return to_string(class_between(graph, a, b));
  }
};

TEST(PathClasses, FollowFromTheTree) {
  const Machine machine;
  const auto& [graph, gpus, nics, numas] = machine;
  EXPECT_EQ(machine.between(gpus[0], gpus[0]), "X");
  EXPECT_EQ(machine.between(gpus[0], gpus[1]), "PIX");
  EXPECT_EQ(machine.between(gpus[0], nics[0]), "PIX");
  EXPECT_EQ(machine.between(gpus[0], gpus[2]), "PXB");
  EXPECT_EQ(machine.between(gpus[0], gpus[3]), "PHB");
  EXPECT_EQ(machine.between(gpus[0], nics[1]), "NODE");
  EXPECT_EQ(machine.between(gpus[0], gpus[4]), "SYS");
  EXPECT_EQ(machine.between(numas[0], numas[1]), "SYS");
  EXPECT_EQ(machine.between(numas[0], gpus[2]), "PHB");
  EXPECT_EQ(machine.between(numas[1], gpus[2]), "SYS");
}

TEST(PathClasses, AreUnknownWithoutHostBridgesOrNumaNodes) {
  Machine machine;
  const auto& numas = machine.numas;
  const auto a = machine.pcie(NodeKind::gpu, "a", numas[0], 16);
  const auto b = machine.pcie(NodeKind::gpu, "b", numas[0], 16);
  const auto c = machine.pcie(NodeKind::gpu, "c", 0, 16);
  EXPECT_EQ(machine.between(a, b), "?");
  EXPECT_EQ(machine.between(a, c), "?");
  EXPECT_EQ(machine.between(a, machine.gpus[4]), "SYS");
  machine.graph.nodes[c].numa_node = 1;
  EXPECT_EQ(machine.between(a, c), "SYS");
}

TEST(PathClasses, OfWhatTheSourceStatesAreThose) {
  Machine machine;
  machine.graph.stated[{machine.gpus[0], machine.gpus[1]}] = {Distance::sys, 0};
  EXPECT_EQ(machine.between(machine.gpus[0], machine.gpus[1]), "SYS");
}

TEST(PathClasses, BetweenHostsAreNet) {
  Machine machine;
  const auto other = add_node(machine.graph, NodeKind::host, "other");
  const auto far = machine.pcie(NodeKind::gpu, "far GPU", other, 16);
  EXPECT_EQ(machine.between(machine.gpus[0], far), "NET");
}

TEST(Paths, CrossTheLinksOfTheTree) {
  const Machine machine;
  const auto& [graph, gpus, nics, numas] = machine;
  const auto path = path_between(graph, gpus[0], gpus[2]);
  std::vector<std::string> stations;
  for (const auto link : path.links) {
    EXPECT_EQ(stations.empty() ? "GPU0" : stations.back(),
              graph.nodes[graph.links[link].from].name);
    stations.push_back(graph.nodes[graph.links[link].to].name);
  }
  EXPECT_EQ(stations, (std::vector<std::string>{"near", "top", "far", "GPU2"}));
  EXPECT_TRUE(path.complete);
  EXPECT_DOUBLE_EQ(*path.capacity_GBps, pcie_capacity(8, 8)->GBps);
  EXPECT_EQ(path.source, "PCIe gen3 x8");
}

TEST(Paths, WithAnUnknownLinkAreAtMostTheNarrowestKnown) {
  const Machine machine;
  const auto path = path_between(machine.graph, machine.gpus[0], machine.gpus[4]);
  EXPECT_FALSE(path.complete);
  EXPECT_DOUBLE_EQ(*path.capacity_GBps, pcie_capacity(8, 16)->GBps);
  const auto memory = path_between(machine.graph, machine.numas[0], machine.numas[1]);
  EXPECT_FALSE(memory.complete);
  EXPECT_FALSE(memory.capacity_GBps);
  EXPECT_EQ(memory.source, "links between sockets unknown");
}

TEST(Paths, TakeNvlinksBeforePcie) {
  Machine machine;
  auto& graph = machine.graph;
  const auto& gpus = machine.gpus;
  const auto* generation = link_specification("NVLink 2");
  add_nvlinks(graph, gpus[0], {{gpus[4], 2}}, generation);
  add_nvlinks(graph, gpus[4], {{gpus[0], 2}}, generation);
  const auto path = path_between(graph, gpus[0], gpus[4]);
  EXPECT_EQ(to_string(path.path_class), "NV2");
  EXPECT_EQ(path.links.size(), 1U);
  EXPECT_DOUBLE_EQ(*path.capacity_GBps, 50);
  EXPECT_TRUE(path.complete);
}

TEST(Paths, SumTheSwitchesBetweenTwoGpus) {
  Machine machine;
  auto& graph = machine.graph;
  const auto& gpus = machine.gpus;
  const auto one = switch_at(graph, "0000:05:00.0");
  const auto two = switch_at(graph, "0000:06:00.0");
  EXPECT_EQ(switch_at(graph, "0000:05:00.0"), one);
  const auto* generation = link_specification("NVLink 4");
  add_nvlinks(graph, gpus[0], {{one, 4}, {two, 5}}, generation);
  add_nvlinks(graph, gpus[1], {{one, 4}, {two, 3}}, generation);
  const auto path = path_between(graph, gpus[0], gpus[1]);
  EXPECT_EQ(to_string(path.path_class), "NV7");
  EXPECT_EQ(path.links.size(), 4U);
  EXPECT_DOUBLE_EQ(*path.capacity_GBps, 7 * 25.0);
}

// As on a DGX-2, whose two boards have switches of their own.
TEST(Paths, GoFromSwitchToSwitch) {
  Machine machine;
  auto& graph = machine.graph;
  const auto* generation = link_specification("NVLink 2");
  add_nvlinks(graph, machine.gpus[0], {{switch_at(graph, "0000:05:00.0"), 6}}, generation);
  add_nvlinks(graph, machine.gpus[4], {{switch_at(graph, "0000:06:00.0"), 6}}, generation);
  EXPECT_EQ(machine.between(machine.gpus[0], machine.gpus[4]), "NV6");
  EXPECT_EQ(machine.between(machine.gpus[0], machine.gpus[1]), "PIX") << "has no NVLinks";
}

TEST(Paths, OfNvlinksOfUnknownGenerationHaveNoCapacity) {
  Machine machine;
  add_nvlinks(machine.graph, machine.gpus[0], {{machine.gpus[1], 2}}, nullptr);
  const auto path = path_between(machine.graph, machine.gpus[0], machine.gpus[1]);
  EXPECT_EQ(to_string(path.path_class), "NV2");
  EXPECT_FALSE(path.capacity_GBps);
  EXPECT_FALSE(path.complete);
}

TEST(NearestNics, AreAllAtTheLeastDistance) {
  Machine machine;
  const auto& [graph, gpus, nics, numas] = machine;
  EXPECT_EQ(nearest_nics(graph, gpus[0]).nodes, (std::vector<std::size_t>{nics[0]}));
  EXPECT_EQ(nearest_nics(graph, gpus[2]).path_class.distance, Distance::pxb);
  EXPECT_EQ(nearest_nics(graph, numas[0]).nodes, (std::vector<std::size_t>{nics[0], nics[1]}));
  EXPECT_EQ(nearest_nics(graph, numas[1]).nodes, (std::vector<std::size_t>{nics[2]}));
  EXPECT_TRUE(nearest_nics(graph_of_host("test"), 0).nodes.empty());
}

TEST(NearestCpus, AreOnesOwnOrTheNumaNodes) {
  Machine machine;
  EXPECT_EQ(nearest_cpus(machine.graph, machine.gpus[4]), std::vector<int>{1});
  machine.graph.nodes[machine.gpus[4]].cpus = std::vector<int>{7};
  EXPECT_EQ(nearest_cpus(machine.graph, machine.gpus[4]), std::vector<int>{7});
  EXPECT_EQ(numa_of(machine.graph, machine.gpus[4]), 1);
  EXPECT_FALSE(nearest_cpus(machine.graph, 0));
}

}  // namespace
}  // namespace ucxbench
