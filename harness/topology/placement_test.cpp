#include "harness/topology/placement.hpp"

#include <gtest/gtest.h>

#include "harness/core/units.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

/// Two NUMA nodes of one processor each; `cpus` of each.
Graph two_numas(const std::string& first, const std::string& second) {
  auto graph = graph_of_host("test");
  for (const auto& cpus : {first, second}) {
    const auto numa = add_node(graph, NodeKind::numa, "NUMA" + std::to_string(graph.nodes.size()));
    graph.nodes[numa].cpus = parse_list(cpus);
    attach_inside(graph, numa, 0);
  }
  return graph;
}

std::size_t add_device(Graph& graph, NodeKind kind, const std::string& name, std::size_t parent) {
  const auto node = add_node(graph, kind, name);
  attach_pcie(graph, node, parent, std::nullopt, "");
  return node;
}

std::vector<std::string> in_words(const std::vector<std::vector<int>>& ranks) {
  std::vector<std::string> lists;
  for (const auto& cpus : ranks) lists.push_back(cpus.empty() ? "" : format_list(cpus));
  return lists;
}

using Lists = std::vector<std::string>;

TEST(CpusNear, AreCutIntoPartsThatKeepCoresWhole) {
  // 12 … are the second hardware threads of 0 …
  const auto graph = two_numas("0-5,12-17", "6-11,18-23");
  EXPECT_EQ(in_words(cpus_near(graph, {1, 1, 2})), (Lists{"0-2,12-14", "3-5,15-17", "6-11,18-23"}));
  // Even numbers on one node.
  const auto interleaved = two_numas("0,2,4,6", "1,3,5,7");
  EXPECT_EQ(in_words(cpus_near(interleaved, {1, 1, 2})), (Lists{"0,4", "2,6", "1,3,5,7"}));
}

TEST(CpusNear, AreAllForEachWhereTheyAreFewerThanRanks) {
  EXPECT_EQ(in_words(cpus_near(two_numas("0-1", "2-3"), {1, 1, 1, std::nullopt})),
            (Lists{"0-1", "0-1", "0-1", ""}));
}

TEST(BindNear, TakesEachCpuOnceInTheOrderOfThoseAllowed) {
  const auto graph = two_numas("0-3", "4-7");
  const auto bound = bind_near(graph, {2, 1, 2}, {0, 2, 4, 6, 1, 3, 5, 7}, 1);
  ASSERT_TRUE(bound);
  EXPECT_EQ(in_words(*bound), (Lists{"4", "0", "6"}));
  EXPECT_EQ(bind_near(graph, {1, 1}, {0, 1, 2, 3}, 2)->at(1), (std::vector{2, 3}));
  EXPECT_EQ(bind_near(graph, {1, 1}, {0, 1, 2}, 2)->at(1), std::vector{1});
}

TEST(BindNear, IsNothingWhereNearCpusDoNotSuffice) {
  const auto graph = two_numas("0-3", "4-7");
  EXPECT_FALSE(bind_near(graph, {1, 1}, {0, 4, 5, 6}, 1));
  EXPECT_FALSE(bind_near(graph, {1, std::nullopt}, {0, 1, 2, 3}, 1));
}

TEST(NearestNicEach, SharesOutThoseThatAreEquallyNear) {
  auto graph = two_numas("0-3", "4-7");
  const auto near_a = add_device(graph, NodeKind::nic, "mlx5_0", 1);
  const auto near_b = add_device(graph, NodeKind::nic, "mlx5_1", 1);
  const auto far = add_device(graph, NodeKind::nic, "mlx5_2", 2);
  const auto any = [](std::size_t) { return true; };
  EXPECT_EQ(nearest_nic_each(graph, {1, 1, 1, 2, std::nullopt}, any),
            (DataPlaces{near_a, near_b, near_a, far, std::nullopt}));
  const auto usable = [&](std::size_t nic) { return may_carry(graph, nic); };
  graph.nodes[near_a].state = "DOWN";
  graph.nodes[near_b].state = "ACTIVE";
  // The state of mlx5_2 is not known, where that of others is.
  EXPECT_EQ(nearest_nic_each(graph, {1, 1, 2}, usable), (DataPlaces{near_b, near_b, near_b}));
}

TEST(SpreadOverNuma, KeepsPairsTogether) {
  auto graph = two_numas("0-3", "4-7");
  EXPECT_EQ(spread_over_numa(graph, 5, false), (DataPlaces{1, 1, 2, 2, 1}));
  EXPECT_EQ(spread_over_numa(graph, 2, true), (DataPlaces{1, 1}));
  add_device(graph, NodeKind::nic, "mlx5_0", 2);
  EXPECT_EQ(spread_over_numa(graph, 4, true), (DataPlaces{2, 2, 2, 2}));
  EXPECT_EQ(spread_over_numa(graph_of_host("test"), 2, false), DataPlaces(2));
}

}  // namespace
}  // namespace ucxbench
