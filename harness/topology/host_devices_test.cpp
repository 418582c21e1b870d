#include "harness/topology/host_devices.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

using HostDevices = FolderLikeSys;

TEST_F(HostDevices, AreCountedByModel) {
  for (const auto* gpu : {"0000:07:00.0", "0000:0f:00.0"}) {
    write(std::string("proc/driver/nvidia/gpus/") + gpu + "/information",
          "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 250");
  }
  EXPECT_EQ(gpu_models(root_), Json({"NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB"}));
  write("devices/a/vendor", "0x15b3");
  write("devices/a/device", "0x101b");
  write("devices/b/vendor", "0x8086");
  write("devices/b/device", "0x1572");
  write("sys/class/infiniband/mlx5_0/hca_type", "MT4123");
  write("sys/class/net/ib0/mtu", "2044");
  write("sys/class/net/eth0/mtu", "1500");
  write("sys/class/net/lo/mtu", "65536");
  const auto link = [&](const char* from, const char* to) {
    std::filesystem::create_directory_symlink(root_ / "devices" / to, root_ / from / "device");
  };
  link("sys/class/infiniband/mlx5_0", "a");
  link("sys/class/net/ib0", "a");
  link("sys/class/net/eth0", "b");
  EXPECT_EQ(nic_models(root_), Json({"8086:1572", "MT4123"}));
}

TEST_F(HostDevices, MayBeNone) {
  EXPECT_EQ(gpu_models(root_), Json::array());
  EXPECT_EQ(nic_models(root_), Json::array());
}

}  // namespace
}  // namespace ucxbench
