#include "bench/cli/place.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(net_devices_of("auto", TransportSet::parse("auto"), "lo", true), "lo");
  EXPECT_EQ(net_devices_of("auto", TransportSet::parse("shm"), "lo", true), "");
}

TEST(NetDevices, AreCheckedUnlessAWrapperMayHideThem) {
  const auto tcp = TransportSet::parse("tcp");
  EXPECT_EQ(net_devices_of("lo", tcp, "lo", true), "lo");
  EXPECT_THROW(net_devices_of("eth77", tcp, "lo", true), Failure);
  EXPECT_EQ(net_devices_of("eth77", tcp, "lo", false), "eth77");
}

}  // namespace
}  // namespace ucxbench
