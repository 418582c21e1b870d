#include <gtest/gtest.h>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/import.hpp"
#include "harness/core/refusal_for_test.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

std::string between(const Graph& graph, const std::string& a, const std::string& b) {
  return to_string(class_between(graph, graph.find_name(a), graph.find_name(b)));
}

Path path(const Graph& graph, const std::string& a, const std::string& b) {
  return path_between(graph, graph.find_name(a), graph.find_name(b));
}

TEST(NcclXml, OfDgx1HasCapacities) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  EXPECT_DOUBLE_EQ(path(graph, "GPU0", "GPU3").capacity_GBps.value_or(0), 50);
  EXPECT_DOUBLE_EQ(path(graph, "GPU0", "GPU1").capacity_GBps.value_or(0), 25);
  EXPECT_NEAR(path(graph, "GPU0", "mlx5_0").capacity_GBps.value_or(0), 15.75, 0.01);
  EXPECT_TRUE(path(graph, "GPU0", "mlx5_2").complete);
  const auto across = path(graph, "GPU0", "GPU5");
  EXPECT_EQ(to_string(across.path_class), "SYS");
  EXPECT_FALSE(across.complete);
  // Broadwell.
  const auto memory = path(graph, "NUMA0", "NUMA1");
  EXPECT_NE(memory.source.find("QPI 9.6"), std::string::npos) << memory.source;
  EXPECT_EQ(nearest_cpus(graph, graph.find_name("mlx5_1")),
            nearest_cpus(graph, graph.find_name("GPU4")));
}

TEST(NcclXml, NvlinksGoThroughTheSwitchesThatItNames) {
  const auto graph = import_topology(fixture("h100-nvswitch.nccl.xml"));
  EXPECT_EQ(graph.of_kind(NodeKind::nvswitch).size(), 4U);
  EXPECT_EQ(between(graph, "GPU0", "GPU7"), "NV18");
  EXPECT_DOUBLE_EQ(path(graph, "GPU0", "GPU7").capacity_GBps.value_or(0), 450);
  EXPECT_EQ(between(graph, "GPU3", "mlx5_3"), "PIX");
  EXPECT_NEAR(path(graph, "GPU3", "mlx5_3").capacity_GBps.value_or(0), 63, 0.02);
}

TEST(NcclXml, OfPcieAlone) {
  const auto graph = import_topology(fixture("pcie-only.nccl.xml"));
  EXPECT_EQ(between(graph, "GPU0", "GPU1"), "PIX");
  EXPECT_EQ(between(graph, "GPU0", "GPU2"), "SYS");
  EXPECT_EQ(between(graph, "GPU1", "mlx5_0"), "PHB");
  EXPECT_NEAR(path(graph, "GPU1", "mlx5_0").capacity_GBps.value_or(0), 15.75, 0.01);
}

TEST(NcclXml, DevicesMayBeBare) {
  // As cloud providers ship it: no gpu, nic or speed.
  const auto graph = graph_from_nccl_xml(
      "<system version=\"1\"><cpu numaid=\"-1\"><pci busid=\"0002:00:00.0\" class=\"0x030200\"/>"
      "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"\"/>"
      "<pci busid=\"0101:00:00.0\" class=\"0x020700\"/><pci "
      "busid=\"0000:00:1b.0\"/></cpu></system>");
  EXPECT_EQ(graph.nodes[graph.find_name("GPU0")].pci, "0001:00:00.0");
  EXPECT_EQ(graph.devices().size(), 3U);
  EXPECT_FALSE(numa_of(graph, graph.find_name("GPU0")));
  EXPECT_FALSE(path(graph, "GPU0", "GPU1").capacity_GBps);
}

TEST(NcclXml, SaysWhatIsWrong) {
  const auto refusal = [](const std::string& xml) {
    return refusal_by([&] { graph_from_nccl_xml(xml); });
  };
  EXPECT_NE(refusal("<system/>").find("without a <cpu>"), std::string::npos);
  EXPECT_NE(refusal("<system><cpu host_hash=\"1\"/><cpu host_hash=\"2\"/></system>").find("hosts"),
            std::string::npos);
  const auto link = [](const std::string& count) {
    return "<system><cpu><pci busid=\"0000:01:00.0\"><gpu dev=\"0\"><nvlink target=\"\" count=\"" +
           count + "\" tclass=\"0x068000\"/></gpu></pci></cpu></system>";
  };
  EXPECT_EQ(refusal(link("2")), "accepted");
  EXPECT_NE(refusal(link("-2")).find("'-2'"), std::string::npos);
  EXPECT_NE(refusal(link("")).find("count"), std::string::npos);
}

}  // namespace
}  // namespace ucxbench
