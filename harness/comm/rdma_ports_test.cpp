#include "harness/comm/rdma_ports.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ucxbench {
namespace {

class RdmaPorts : public testing::Test {
 protected:
  RdmaPorts() { std::filesystem::remove_all(sysfs_); }
  ~RdmaPorts() override { std::filesystem::remove_all(sysfs_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((sysfs_ / file).parent_path());
    std::ofstream(sysfs_ / file) << text;
  }

  const std::filesystem::path sysfs_ = std::filesystem::path(testing::TempDir()) /
                                       ("ucxbench_rdma_ports-" + std::to_string(getpid()));
};

TEST_F(RdmaPorts, AreThoseThatAreUp) {
  write("mlx5_0/ports/1/state", "4: ACTIVE\n");
  write("mlx5_0/ports/2/state", "1: DOWN\n");
  write("mlx5_1/ports/1/state", "4: ACTIVE\n");
  EXPECT_EQ(active_rdma_ports(sysfs_), (std::vector<std::string>{"mlx5_0:1", "mlx5_1:1"}));
  EXPECT_TRUE(active_rdma_ports("/nowhere").empty());
}

TEST_F(RdmaPorts, HaveANetworkDevice) {
  write("rxe0/ports/1/gid_attrs/ndevs/0", "veth0\n");
  EXPECT_EQ(net_device_of("rxe0:1", sysfs_), "veth0");
  // InfiniBand: GIDs have no network device, the adapter has one for each port.
  write("mlx4_0/ports/2/state", "4: ACTIVE\n");
  write("mlx4_0/device/net/ib0/dev_port", "0\n");
  write("mlx4_0/device/net/ib1/dev_port", "1\n");
  EXPECT_EQ(net_device_of("mlx4_0:2", sysfs_), "ib1");
  EXPECT_EQ(net_device_of("mlx4_0:3", sysfs_), "");
  EXPECT_EQ(net_device_of("lo", sysfs_), "");
}

}  // namespace
}  // namespace ucxbench
