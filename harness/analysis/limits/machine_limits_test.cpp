#include "harness/analysis/limits/machine_limits.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/core/json.hpp"
#include "harness/topology/build.hpp"

namespace ucxbench {
namespace {

const SharedResource& bottleneck_of(const AllToAll& all) {
  return all.limits.resources.at(*all.limits.bottleneck);
}

// Two GPUs share each of the four adapters, and each sends to three GPUs without NVLinks to it: of
// seven messages three cross the adapter, twice. 7/6 of 12.5 GB/s.
TEST(AllToAllOfADgx1, IsBoundByItsAdapters) {
  const auto found = all_to_all_of(import_topology(fixture("dgx1.nccl.xml")));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].route, "NVLink, else the nearest NIC");
  EXPECT_NEAR(found[1].per_gpu_GBps, 7.0 / 6 * 12.5, 1e-9);  // 14.58
  EXPECT_EQ(bottleneck_of(found[1]).name, "port mlx5_0 -> network");
  EXPECT_EQ(bottleneck_of(found[1]).source, "100 Gb/s");
  EXPECT_TRUE(found[1].limits.unknown.empty());
}

// The same six messages cross what two GPUs share of PCIe, and then the sockets.
TEST(AllToAllOfADgx1, OverPcieIsAtMostWhatASwitchCarries) {
  const auto found = all_to_all_of(import_topology(fixture("dgx1.nccl.xml")));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].route, "NVLink, else PCIe");
  EXPECT_NEAR(found[0].per_gpu_GBps, 7.0 / 6 * 16 * 128 / 130, 1e-9);
  EXPECT_FALSE(unknown_in(found[0].limits).empty());
}

TEST(AllToAllOfADgx1, WithoutAnySpeedHasNoBound) {
  EXPECT_TRUE(all_to_all_of(import_topology(fixture("dgx1.txt"))).empty());
  EXPECT_EQ(limits_json(import_topology(fixture("dgx1.txt"))), Json::array());
}

// Each GPU's links into the switches carry what it sends, whoever it is for.
TEST(AllToAllOverSwitches, IsWhatAGpuInjects) {
  const auto found = all_to_all_of(import_topology(fixture("h100-nvswitch.nccl.xml")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].route, "NVLink");
  EXPECT_NEAR(found[0].per_gpu_GBps, 450, 1e-9);
  EXPECT_EQ(bottleneck_of(found[0]).name, "NVLinks GPU0 -> NVSwitches");
  EXPECT_EQ(found[0].limits.flows.size(), 8U * 7);
  for (const auto& flow : found[0].limits.flows) {
    EXPECT_NEAR(*flow.alone_GBps, 450, 1e-9);
  }
}

TEST(AllToAll, NeedsTwoGpus) {
  auto graph = graph_of_host("test");
  EXPECT_TRUE(all_to_all_of(graph).empty());
  Node gpu;
  gpu.kind = NodeKind::gpu;
  gpu.name = "GPU0";
  attach_pcie(graph, graph.add(gpu), 0, pcie_capacity(8, 16), "");
  EXPECT_TRUE(all_to_all_of(graph).empty());
}

TEST(AllToAll, IsWrittenWithItsReasons) {
  const auto json = limits_json(import_topology(fixture("dgx1.nccl.xml")));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1].at("resource"), "port mlx5_0 -> network");
  EXPECT_EQ(json[1].at("resource_GBps"), 12.5);
  EXPECT_EQ(json[1].at("unknown"), Json::array());
  EXPECT_EQ(json[0].at("unknown").size(), 1U);
}

}  // namespace
}  // namespace ucxbench
