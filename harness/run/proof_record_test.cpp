#include "harness/run/proof_record.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Json seen(const char* machine, const char* network, const Counters& moved) {
  return {{"machine", machine}, {"network", network}, {"moved", moved}};
}

TEST(CountedByAll, AddsHostsAndTakesADeviceOfSeveralRanksOnce) {
  EXPECT_EQ(counted_by_all({}), Counters{});
  const auto all = counted_by_all({seen("a", "net:1", {{"tcp/eth0", 100}, {"tcp/lo", 5}}),
                                   seen("a", "net:1", {{"tcp/eth0", 120}}),
                                   seen("b", "net:1", {{"tcp/eth0", 70}})});
  EXPECT_EQ(all, (Counters{{"tcp/eth0", 190}, {"tcp/lo", 5}}));
}

TEST(CountedByAll, NetworkDevicesAreOfANamespaceOthersOfAMachine) {
  const auto all = counted_by_all({seen("a", "net:1", {{"tcp/eth0", 100}, {"ib/mlx5_0:1", 30}}),
                                   seen("a", "net:2", {{"tcp/eth0", 50}, {"ib/mlx5_0:1", 40}})});
  EXPECT_EQ(all, (Counters{{"tcp/eth0", 150}, {"ib/mlx5_0:1", 40}}));
}

TEST(CountedHere, NamesWhereItWas) {
  const auto here = counted_here({{"tcp/lo", 7}});
  EXPECT_FALSE(here.at("machine").get<std::string>().empty());
  EXPECT_TRUE(here.at("network").get<std::string>().starts_with("net:"));
  EXPECT_EQ(counted_by_all({here, here}), (Counters{{"tcp/lo", 7}}));
}

}  // namespace
}  // namespace ucxbench
