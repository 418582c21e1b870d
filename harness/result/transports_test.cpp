#include "harness/result/transports.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(Transports, KnowTheirLanes) {
  EXPECT_EQ(transport_of_lane("posix/memory"), "shm");
  EXPECT_EQ(transport_of_lane("cma"), "shm");
  EXPECT_EQ(transport_of_lane("tcp/eth0.100"), "tcp");
  EXPECT_EQ(transport_of_lane("rc_mlx5/mlx5_0:1"), "ib");
  EXPECT_EQ(transport_of_lane("rc_verbs"), "ib");
  EXPECT_EQ(transport_of_lane("ud_verbs"), "wireup");
  EXPECT_EQ(transport_of_lane("cuda_ipc"), "nvlink");
  EXPECT_EQ(transport_of_lane("cuda_copy"), "staging");
  EXPECT_EQ(transport_of_lane("srd"), "srd");
}

// A record that lacks one of these would be taken for what it is not by one of its readers.
TEST(Transports, EachHasAWayAndWhatUcxCallsIt) {
  for (const auto& known : transports()) {
    EXPECT_NE(known.fabric, Fabric::unknown) << known.name;
    EXPECT_FALSE(known.ucx_tls.empty()) << known.name;
    EXPECT_EQ(known.needed.empty(), known.fabric == Fabric::any) << known.name;
    EXPECT_EQ(known.component.empty(), known.module.empty()) << known.name;
    for (const auto lane : known.lanes) {
      EXPECT_EQ(transport_called(lane)->name, known.name) << lane;
      EXPECT_EQ(transport_of_lane(std::string(lane) + "/device"), known.name) << lane;
    }
  }
}

TEST(Transports, ASetMayUseWhatItNamesOrLeavesOpen) {
  EXPECT_TRUE(names_fabric({"shm", "ib"}, Fabric::rdma));
  EXPECT_FALSE(names_fabric({"auto"}, Fabric::rdma));
  EXPECT_TRUE(may_use({"auto"}, Fabric::rdma));
  EXPECT_FALSE(may_use({"shm", "tcp"}, Fabric::rdma));
  EXPECT_FALSE(may_use({"unknown"}, Fabric::rdma));
}

}  // namespace
}  // namespace ucxbench
