#include "harness/topology/discover.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harness/topology/build.hpp"
#include "harness/topology/path.hpp"

namespace ucxbench {
namespace {

/// Two NUMA nodes of two CPUs each; under the first a GPU and a NIC at one host bridge.
Graph found_by_hwloc() {
  auto graph = graph_of_host("test");
  const auto add = [&](NodeKind kind, const std::string& name, const std::string& pci = "") {
    Node node;
    node.kind = kind;
    node.name = name;
    node.pci = pci;
    return graph.add(std::move(node));
  };
  for (const int number : {0, 1}) {
    const auto numa = add(NodeKind::numa, "NUMA" + std::to_string(number));
    graph.nodes[numa].numa_node = number;
    graph.nodes[numa].cpus = std::vector<int>{2 * number, 2 * number + 1};
    attach_across(graph, numa, 0, "");
  }
  const auto bridge = add(NodeKind::host_bridge, "pci0000:16");
  attach_inside(graph, bridge, 1);
  const auto gpu = add(NodeKind::gpu, "GPU0", "0000:17:00.0");
  attach_pcie(graph, gpu, bridge, std::nullopt, "PCIe speed unknown");
  const auto nic = add(NodeKind::nic, "mlx5_0", "0000:18:00.0");
  attach_pcie(graph, nic, bridge, std::nullopt, "PCIe speed unknown");
  attach_cable(graph, nic, std::nullopt);
  return graph;
}

NvmlGpu gpu(int index, const std::string& pci, std::vector<NvmlLink> links = {}) {
  NvmlGpu gpu;
  gpu.index = index;
  gpu.name = "NVIDIA H200";
  gpu.pci = pci;
  gpu.compute_capability = 90;
  gpu.pcie_most = NvmlPcie{5, 16};
  gpu.pcie_now = NvmlPcie{1, 16};
  gpu.links = std::move(links);
  gpu.levels = {-1, -1, -1};
  return gpu;
}

constexpr auto to_gpu = NvmlLink::Remote::gpu;
constexpr auto to_switch = NvmlLink::Remote::nvswitch;

TEST(Discover, FindsThisMachine) {
  const auto graph = discover();
  EXPECT_EQ(graph.nodes.at(0).kind, NodeKind::host);
  EXPECT_FALSE(graph.of_kind(NodeKind::numa).empty());
  for (std::size_t i = 1; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    EXPECT_FALSE(node.name.empty());
    const bool across = node.kind == NodeKind::network || node.kind == NodeKind::nvswitch;
    EXPECT_NE(graph.parent_of(i) == Node::none, !across) << node.name;
  }
  for (const auto& link : graph.links) {
    EXPECT_GT(link.specified_GBps.value_or(1), 0);
  }
  EXPECT_EQ(hash_of(discover()), hash_of(graph));
}

TEST(Discover, NvmlNumbersTheGpus) {
  auto graph = found_by_hwloc();
  auto second = gpu(1, "0000:17:00.0");
  second.cpus = std::vector<int>{0, 1};
  auto hidden = gpu(0, "0000:80:00.0");
  hidden.cpus = std::vector<int>{2, 3};
  add_nvml(graph, {hidden, second});
  const auto gpus = graph.of_kind(NodeKind::gpu);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(graph.nodes[gpus[0]].pci, "0000:80:00.0");
  EXPECT_EQ(graph.nodes[gpus[1]].pci, "0000:17:00.0");
  EXPECT_EQ(graph.nodes[gpus[1]].model, "NVIDIA H200");
  // Not in the PCI tree: where its CPUs are.
  EXPECT_EQ(numa_of(graph, gpus[0]), 1);
  EXPECT_EQ(to_string(class_between(graph, gpus[0], gpus[1])), "SYS");
}

TEST(Discover, NvmlKnowsPcieWhereSysfsDoesNot) {
  auto graph = found_by_hwloc();
  add_nvml(graph, {gpu(0, "0000:17:00.0")});
  const auto& node = graph.nodes[graph.find_name("GPU0")];
  for (const auto index : {node.up, node.up + 1}) {
    EXPECT_DOUBLE_EQ(*graph.links[index].specified_GBps, pcie_capacity_of_generation(5, 16)->GBps);
    EXPECT_DOUBLE_EQ(*graph.links[index].now_GBps, pcie_capacity_of_generation(1, 16)->GBps);
    EXPECT_EQ(graph.links[index].source, "PCIe gen5 x16 by NVML, now PCIe gen1 x16");
  }
}

TEST(Discover, NvlinkC2cIsTheWayToAProcessor) {
  auto graph = found_by_hwloc();
  auto known = gpu(0, "0000:17:00.0");
  known.c2c_GBps = 447.12;
  auto named = gpu(1, "0000:80:00.0");
  named.name = "NVIDIA GH200 480GB";
  add_nvml(graph, {known, named});
  const auto to_memory = [&](const char* name) {
    const auto self = graph.find_name(name);
    return path_between(graph, self, graph.parent_of(self)).capacity_GBps.value_or(0);
  };
  EXPECT_DOUBLE_EQ(to_memory("GPU0"), 447.12);
  EXPECT_DOUBLE_EQ(to_memory("GPU1"), 450);
  // An adapter is as far as before, and as fast as its own link.
  EXPECT_EQ(to_string(class_between(graph, graph.find_name("GPU0"), graph.find_name("mlx5_0"))),
            "PHB");
}

TEST(Discover, NvlinksAreGroupedByTheirOtherEnd) {
  auto graph = found_by_hwloc();
  const NvmlLink there{to_gpu, "0000:80:00.0"};
  const NvmlLink back{to_gpu, "0000:17:00.0"};
  add_nvml(graph, {gpu(0, "0000:17:00.0", {there, there, {to_switch, "0000:05:00.0"}}),
                   gpu(1, "0000:80:00.0", {back, back})});
  const auto path = path_between(graph, graph.find_name("GPU0"), graph.find_name("GPU1"));
  EXPECT_EQ(to_string(path.path_class), "NV2");
  EXPECT_DOUBLE_EQ(*path.capacity_GBps, 50);
  EXPECT_NE(graph.find_name("NVSwitch 0000:05:00.0"), Node::none);
}

TEST(Discover, SwitchesThatAMachineHidesAreOne) {
  auto graph = found_by_hwloc();
  const NvmlLink hidden{NvmlLink::Remote::unknown, ""};
  const NvmlLink processor{NvmlLink::Remote::other, "0000:30:00.0"};
  add_nvml(graph, {gpu(0, "0000:17:00.0", {hidden, hidden, processor}),
                   gpu(1, "0000:80:00.0", {hidden, hidden})});
  EXPECT_EQ(graph.of_kind(NodeKind::nvswitch).size(), 1U);
  EXPECT_EQ(to_string(class_between(graph, graph.find_name("GPU0"), graph.find_name("GPU1"))),
            "NV2");
}

TEST(Discover, NvmlTellsDistancesThatTheTreeDoesNot) {
  auto graph = found_by_hwloc();
  auto one = gpu(0, "0000:80:00.0");
  auto two = gpu(1, "0000:81:00.0");
  auto three = gpu(2, "0000:82:00.0");
  for (auto* each : {&one, &two, &three}) each->cpus = std::vector<int>{2, 3};
  one.levels = {-1, 20, -1};
  two.levels = {20, -1, -1};
  add_nvml(graph, {one, two, three});
  const auto between = [&](const char* a, const char* b) {
    return to_string(class_between(graph, graph.find_name(a), graph.find_name(b)));
  };
  EXPECT_EQ(between("GPU0", "GPU1"), "PXB");
  EXPECT_EQ(between("GPU1", "GPU2"), "?");
}

TEST(Discover, SysfsKnowsLinksAndPorts) {
  namespace fs = std::filesystem;
  const auto root = fs::temp_directory_path() / ("discover-" + std::to_string(getpid()));
  const auto write = [&](const fs::path& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << "\n";
  };
  const fs::path device = "bus/pci/devices/0000:18:00.0";
  write(device / "max_link_speed", "16.0 GT/s PCIe");
  write(device / "max_link_width", "16");
  write(device / "current_link_speed", "16.0 GT/s PCIe");
  write(device / "current_link_width", "8");
  write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
  write("class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)");
  write("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
  auto graph = found_by_hwloc();
  add_sysfs(graph, root);
  fs::remove_all(root);
  const auto nic = graph.find_name("mlx5_0");
  EXPECT_EQ(graph.nodes[nic].state, "ACTIVE");
  EXPECT_EQ(graph.links[graph.nodes[nic].up].source, "PCIe gen4 x16 by sysfs, now PCIe gen4 x8");
  int cables = 0;
  for (const auto& link : graph.links) {
    if (link.link_class != LinkClass::network) continue;
    ++cables;
    EXPECT_DOUBLE_EQ(link.specified_GBps.value_or(0), 25);
  }
  EXPECT_EQ(cables, 2);
}

}  // namespace
}  // namespace ucxbench
