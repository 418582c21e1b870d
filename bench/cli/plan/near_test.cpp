#include "bench/cli/plan/near.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"

namespace ucxbench {
namespace {

Wiring wiring_of_dgx1() {
  Wiring wiring{.graph = import_topology(fixture("dgx1.nccl.xml")),
                .gpus = {},
                .rdma_ports = {"mlx5_0:1", "mlx5_1:1", "mlx5_2:1", "mlx5_3:1"}};
  for (const auto node : wiring.graph.devices()) {
    const auto& device = wiring.graph.nodes[node];
    if (device.kind == NodeKind::gpu) wiring.gpus.push_back(device.pci);
  }
  return wiring;
}

std::vector<int> all_cpus() {
  std::vector<int> cpus(80);
  for (int cpu = 0; cpu < 80; ++cpu) cpus[static_cast<std::size_t>(cpu)] = cpu;
  return cpus;
}

using Cpus = std::vector<std::vector<int>>;

const std::vector<int> every_gpu;

TEST(CpusByWiring, AreNearToGpus) {
  const Cpus order = {{0}, {1}, {2}};
  const auto chosen =
      cpus_by_wiring(wiring_of_dgx1(), order, {4, 0, 5}, true, false, all_cpus(), 1);
  EXPECT_EQ(chosen.cpus, (Cpus{{20}, {0}, {21}}));
  EXPECT_EQ(chosen.how, "near to each rank's GPU");
}

TEST(CpusByWiring, OfHostMemoryKeepPairsOnANumaNode) {
  const Cpus order = {{0}, {1}, {2}, {3}};
  const auto chosen =
      cpus_by_wiring(wiring_of_dgx1(), order, every_gpu, false, false, all_cpus(), 2);
  EXPECT_EQ(chosen.cpus, (Cpus{{0, 1}, {2, 3}, {20, 21}, {22, 23}}));
}

TEST(CpusByWiring, StayWhereTheyCannotBeBetter) {
  const Cpus order = {{0}, {1}};
  auto wiring = wiring_of_dgx1();
  // A process that may use the first socket only.
  const auto narrow = cpus_by_wiring(wiring, order, {4}, true, false, {0, 1, 2}, 1);
  EXPECT_EQ(narrow.cpus, order);
  EXPECT_EQ(narrow.how,
            "in the order of the cores: too few CPUs are known to be near to the ranks' data");
  wiring.gpus.clear();
  EXPECT_EQ(cpus_by_wiring(wiring, order, every_gpu, true, false, all_cpus(), 1).cpus, order);
  const Wiring unknown;
  EXPECT_EQ(cpus_by_wiring(unknown, order, every_gpu, false, false, all_cpus(), 1).how,
            "in the order of the cores: the topology has no NUMA node");
  EXPECT_EQ(cpus_by_wiring(wiring, Cpus(2), every_gpu, false, false, all_cpus(), 1).how,
            "none: there are fewer CPUs than ranks");
}

TEST(NearestNetDevices, AreThoseOfEachRanksGpu) {
  const auto wiring = wiring_of_dgx1();
  const auto of = [&](const char* set, const char* route) {
    const auto data = data_of_ranks(wiring, Cpus(3), {2, 4, 0}, true, true);
    return nearest_net_devices(wiring, data, TransportSet::parse(set), route);
  };
  using Devices = std::vector<std::string>;
  EXPECT_EQ(of("ib", "lo"), (Devices{"mlx5_2:1", "mlx5_1:1", "mlx5_0:1"}));
  EXPECT_EQ(of("tcp,ib", "lo"), (Devices{"lo,mlx5_2:1", "lo,mlx5_1:1", "lo,mlx5_0:1"}));
  EXPECT_EQ(of("tcp,ib", "all"), Devices());
}

TEST(NearestNetDevices, AreThoseOfEachRanksCpusAndUp) {
  auto wiring = wiring_of_dgx1();
  wiring.rdma_ports = {"mlx5_2:1", "mlx5_3:1"};
  const auto data = data_of_ranks(wiring, {{21}, {3}}, every_gpu, false, true);
  const auto devices = nearest_net_devices(wiring, data, TransportSet::parse("ib"), "lo");
  EXPECT_EQ(devices, (std::vector<std::string>{"mlx5_3:1", "mlx5_2:1"}));
  wiring.rdma_ports.clear();
  EXPECT_TRUE(nearest_net_devices(wiring, data, TransportSet::parse("ib"), "lo").empty());
}

}  // namespace
}  // namespace ucxbench
