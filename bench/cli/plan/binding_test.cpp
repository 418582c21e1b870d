#include "bench/cli/plan/binding.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "harness/core/failure.hpp"
#include "harness/topology/cpus.hpp"

namespace ucxbench {
namespace {

TEST(Bind, TakesOneCpuPerRank) {
  const auto cpu = allowed_cpus().front();
  const auto bound = cpus_of_ranks(std::to_string(cpu), 1, 1);
  EXPECT_EQ(bound, (std::vector<std::vector<int>>{{cpu}}));
  EXPECT_TRUE(cpus_of_ranks("none", 2, 1)[1].empty());
}

TEST(Bind, RefusesAWrongCountAndAnAbsentCpu) {
  EXPECT_THROW(cpus_of_ranks("0", 2, 1), Failure);
  EXPECT_THROW(cpus_of_ranks("60000", 1, 1), Failure);
  EXPECT_THROW(cpus_of_ranks("everywhere", 1, 1), Failure);
}

TEST(NetDevices, AutoIsTheRouteWhereTcpMayBeUsed) {
  EXPECT_EQ(net_devices_of("auto", TransportSet::parse("tcp"), "lo", true), "lo");
  EXPECT_EQ(net_devices_of("auto", TransportSet::parse("auto"), "lo", true, "/nowhere"), "lo");
  EXPECT_EQ(net_devices_of("auto", TransportSet::parse("shm"), "lo", true), "");
}

TEST(NetDevices, AutoNamesRdmaPortsBesideTheRoute) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("ucxbench_infiniband-" + std::to_string(getpid()));
  for (const auto& [port, state] : {std::pair{"mlx5_0/ports/1", "4: ACTIVE\n"},
                                    {"mlx5_0/ports/2", "1: DOWN\n"},
                                    {"mlx5_1/ports/1", "4: ACTIVE\n"}}) {
    std::filesystem::create_directories(folder / port);
    std::ofstream(folder / port / "state") << state;
  }
  const auto automatic = [&](const char* set, const char* route) {
    return net_devices_of("auto", TransportSet::parse(set), route, true, folder);
  };
  EXPECT_EQ(automatic("tcp,ib", "lo"), "lo,mlx5_0:1,mlx5_1:1");
  EXPECT_EQ(automatic("auto", "eth0"), "eth0,mlx5_0:1,mlx5_1:1");
  EXPECT_EQ(automatic("tcp,ib", "all"), "all");
  EXPECT_EQ(automatic("tcp", "lo"), "lo");
  EXPECT_EQ(automatic("ib", "lo"), "");
  EXPECT_EQ(net_devices_of("mlx5_1:1,lo", TransportSet::parse("tcp,ib"), "lo", true, folder),
            "mlx5_1:1,lo");
  std::filesystem::remove_all(folder);
}

TEST(NetDevices, AreCheckedUnlessAWrapperMayHideThem) {
  const auto tcp = TransportSet::parse("tcp");
  EXPECT_EQ(net_devices_of("lo", tcp, "lo", true), "lo");
  EXPECT_THROW(net_devices_of("eth77", tcp, "lo", true), Failure);
  EXPECT_EQ(net_devices_of("eth77", tcp, "lo", false), "eth77");
}

}  // namespace
}  // namespace ucxbench
