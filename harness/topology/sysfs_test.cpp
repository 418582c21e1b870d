#include "harness/topology/sysfs.hpp"

#include <gtest/gtest.h>

#include "harness/core/folder_for_test.hpp"

namespace ucxbench {
namespace {

namespace fs = std::filesystem;

class Sysfs : public FolderLikeSys {
 protected:
  void pcie(const fs::path& folder, const std::string& which, const std::string& speed,
            const std::string& width) const {
    write(folder / (which + "_link_speed"), speed);
    write(folder / (which + "_link_width"), width);
  }

  /// In /sys/bus/pci/devices, all are links into the tree.
  void list(const fs::path& folder) const {
    const auto link = root_ / "bus/pci/devices" / folder.filename();
    fs::create_directories(link.parent_path());
    fs::create_directory_symlink(root_ / folder, link);
  }
};

TEST_F(Sysfs, APcieLinkIsAsFastAsItsSlowerEnd) {
  const fs::path port = "devices/pci0000:16/0000:16:02.0";
  const auto gpu = port / "0000:17:00.0";
  pcie(port, "max", "16.0 GT/s PCIe", "8");
  pcie(gpu, "max", "32.0 GT/s PCIe", "16");
  pcie(gpu, "current", "2.5 GT/s PCIe", "8");
  list(gpu);
  const auto link = pcie_link_of("0000:17:00.0", root_);
  EXPECT_EQ(link.most->source, "PCIe gen4 x8");
  EXPECT_EQ(link.now->source, "PCIe gen1 x8");
}

TEST_F(Sysfs, ADeviceOfTheRootComplexHasItsOwnLink) {
  const fs::path gpu = "devices/pci0000:00/0000:00:04.0";
  pcie(gpu, "max", "16 GT/s", "16");
  pcie(gpu, "current", "Unknown", "0");
  list(gpu);
  const auto link = pcie_link_of("0000:00:04.0", root_);
  EXPECT_EQ(link.most->source, "PCIe gen4 x16");
  EXPECT_FALSE(link.now);
}

TEST_F(Sysfs, WhatIsNotThereIsUnknown) {
  const fs::path nic = "devices/pci0000:00/0000:00:03.0";
  write(nic / "class", "0x020000");
  list(nic);
  for (const char* pci : {"0000:00:03.0", "0000:00:09.0"}) {
    const auto link = pcie_link_of(pci, root_);
    EXPECT_FALSE(link.most || link.now) << pci;
  }
  EXPECT_EQ(port_of("mlx5_0", root_).state, "");
  EXPECT_FALSE(port_of("mlx5_0", root_).rate);
}

TEST_F(Sysfs, APortHasARateWhileItIsUp) {
  const fs::path ports = "class/infiniband/mlx5_0/ports";
  write(ports / "1/state", "1: DOWN");
  write(ports / "1/rate", "10 Gb/sec (4X SDR)");
  write(ports / "1/link_layer", "InfiniBand");
  EXPECT_EQ(port_of("mlx5_0", root_).state, "DOWN");
  EXPECT_FALSE(port_of("mlx5_0", root_).rate);
  write(ports / "2/state", "4: ACTIVE");
  write(ports / "2/rate", "100 Gb/sec (4X EDR)");
  write(ports / "2/link_layer", "InfiniBand");
  EXPECT_EQ(port_of("mlx5_0", root_).state, "ACTIVE");
  EXPECT_DOUBLE_EQ(port_of("mlx5_0", root_).rate->GBps, 12.5);
}

TEST_F(Sysfs, RoceIsAsFastAsItsEthernet) {
  const fs::path ports = "class/infiniband/rocep1s0/ports";
  write(ports / "1/state", "4: ACTIVE");
  write(ports / "1/rate", "25 Gb/sec (1X EDR)");
  write(ports / "1/link_layer", "Ethernet");
  EXPECT_DOUBLE_EQ(port_of("rocep1s0", root_).rate->GBps, 3.125);
}

TEST_F(Sysfs, NetworkDevicesSayMegabits) {
  write("class/net/eth0/operstate", "up");
  write("class/net/eth0/speed", "10000");
  write("class/net/eth1/operstate", "up");
  write("class/net/eth1/speed", "-1");
  EXPECT_EQ(port_of("eth0", root_).state, "up");
  EXPECT_DOUBLE_EQ(port_of("eth0", root_).rate->GBps, 1.25);
  EXPECT_EQ(port_of("eth1", root_).state, "up");
  EXPECT_FALSE(port_of("eth1", root_).rate);
}

}  // namespace
}  // namespace ucxbench
