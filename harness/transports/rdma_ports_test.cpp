#include "harness/transports/rdma_ports.hpp"

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

class RdmaPorts : public FolderLikeSys {};

TEST_F(RdmaPorts, AreThoseThatAreUp) {
  write("mlx5_0/ports/1/state", "4: ACTIVE");
  write("mlx5_0/ports/2/state", "1: DOWN");
  write("mlx5_1/ports/1/state", "4: ACTIVE");
  EXPECT_EQ(active_rdma_ports(root_), (std::vector<std::string>{"mlx5_0:1", "mlx5_1:1"}));
  EXPECT_TRUE(active_rdma_ports("/nowhere").empty());
}

TEST_F(RdmaPorts, HaveANetworkDevice) {
  write("rxe0/ports/1/gid_attrs/ndevs/0", "veth0");
  EXPECT_EQ(net_device_of("rxe0:1", root_), "veth0");
  // InfiniBand: GIDs have no network device, the adapter has one for each port.
  write("mlx4_0/ports/2/state", "4: ACTIVE");
  write("mlx4_0/device/net/ib0/dev_port", "0");
  write("mlx4_0/device/net/ib1/dev_port", "1");
  EXPECT_EQ(net_device_of("mlx4_0:2", root_), "ib1");
  EXPECT_EQ(net_device_of("mlx4_0:3", root_), "");
  EXPECT_EQ(net_device_of("lo", root_), "");
}

}  // namespace
}  // namespace ucxbench
