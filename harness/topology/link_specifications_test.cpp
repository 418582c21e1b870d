#include "harness/topology/link_specifications.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(LinkSpecifications, OfNvlinksAddUpToWhatVendorsNameForAGpu) {
  const auto whole = [](int capability, int links) {
    return nvlink_capacity(*nvlink_of_compute_capability(capability), links).GBps;
  };
  EXPECT_DOUBLE_EQ(whole(60, 4), 80);
  EXPECT_DOUBLE_EQ(whole(70, 6), 150);
  EXPECT_DOUBLE_EQ(whole(75, 2), 50);
  EXPECT_DOUBLE_EQ(whole(80, 12), 300);
  EXPECT_DOUBLE_EQ(whole(86, 4), 56.25);
  EXPECT_DOUBLE_EQ(whole(90, 18), 450);
  EXPECT_DOUBLE_EQ(whole(100, 18), 900);
  EXPECT_DOUBLE_EQ(whole(103, 18), 900);
  for (const int without : {0, 61, 72, 87, 89, 107, 120, 121}) {
    EXPECT_EQ(nvlink_of_compute_capability(without), nullptr) << without;
  }
}

TEST(LinkSpecifications, KnowProductsByName) {
  EXPECT_EQ(nvlink_of_model("Tesla P100-SXM2-16GB")->name, "NVLink 1");
  EXPECT_EQ(nvlink_of_model("Tesla V100-SXM3-32GB")->name, "NVLink 2");
  EXPECT_EQ(nvlink_of_model("NVIDIA A100-SXM4-40GB")->name, "NVLink 3");
  EXPECT_EQ(nvlink_of_model("NVIDIA H200")->name, "NVLink 4");
  EXPECT_EQ(nvlink_of_model("NVIDIA GH200 480GB")->name, "NVLink 4");
  EXPECT_EQ(nvlink_of_model("NVIDIA GB200")->name, "NVLink 5");
  for (const char* slower : {"NVIDIA A40", "NVIDIA A40-48Q", "NVIDIA RTX A6000", "NVIDIA RTX A5000",
                             "NVIDIA GeForce RTX 3090"}) {
    EXPECT_EQ(nvlink_of_model(slower)->name, "NVLink 3 of GA102") << slower;
  }
  EXPECT_EQ(nvlink_of_model("Quadro RTX 8000")->name, "NVLink 2");
  EXPECT_EQ(nvlink_of_model("NVIDIA RTX A4000"), nullptr);
  EXPECT_EQ(nvlink_of_model("NVIDIA L40S"), nullptr);
  EXPECT_EQ(nvlink_of_model(""), nullptr);
  EXPECT_EQ(most_nvlinks(nvlink_of_model("Tesla V100-SXM2-16GB")), 6);
  EXPECT_EQ(most_nvlinks(nullptr), 18);
}

TEST(LinkSpecifications, KnowWhichGpusSitBesideTheirProcessor) {
  EXPECT_DOUBLE_EQ(c2c_of_model("NVIDIA GH200 480GB")->GBps, 450);
  EXPECT_DOUBLE_EQ(c2c_of_model("NVIDIA GB200")->GBps, 225);
  EXPECT_NE(c2c_of_model("NVIDIA GB300")->source.find("confidence medium"), std::string::npos);
  EXPECT_FALSE(c2c_of_model("NVIDIA H200"));
  EXPECT_FALSE(c2c_of_model("NVIDIA B200"));
}

TEST(LinkSpecifications, OfPcieFollowFromSpeedAndLanes) {
  EXPECT_NEAR(pcie_capacity(8, 16)->GBps, 15.75, 0.01);
  EXPECT_NEAR(pcie_capacity(16, 16)->GBps, 31.5, 0.01);
  EXPECT_NEAR(pcie_capacity(32, 16)->GBps, 63, 0.02);
  EXPECT_NEAR(pcie_capacity(64, 16)->GBps, 128, 0.01);
  EXPECT_NEAR(pcie_capacity(2.5, 1)->GBps, 0.25, 1e-9);
  EXPECT_EQ(pcie_capacity(16, 8)->source, "PCIe gen4 x8");
  EXPECT_FALSE(pcie_capacity(10, 16));
  EXPECT_FALSE(pcie_capacity(16, 0));
  EXPECT_FALSE(pcie_capacity(16, 255));
  EXPECT_DOUBLE_EQ(pcie_capacity_of_generation(5, 16)->GBps, pcie_capacity(32, 16)->GBps);
  EXPECT_FALSE(pcie_capacity_of_generation(0, 16));
}

TEST(LinkSpecifications, ThatAreNotSureSaySo) {
  EXPECT_EQ(pcie_capacity(64, 16)->source, "PCIe gen6 x16 (confidence medium)");
  EXPECT_EQ(doubt_of(*socket_link("GenuineIntel", 6, 143)), " (confidence low)");
  EXPECT_EQ(doubt_of(*link_specification("EDR")), "");
}

TEST(LinkSpecifications, OfPortsFollowFromTheirRates) {
  EXPECT_DOUBLE_EQ(infiniband_capacity("100 Gb/sec (4X EDR)")->GBps, 12.5);
  EXPECT_DOUBLE_EQ(infiniband_capacity("200 Gb/sec (4X HDR)")->GBps, 25);
  EXPECT_DOUBLE_EQ(infiniband_capacity("200 Gb/sec (2X NDR)")->GBps, 25);
  EXPECT_DOUBLE_EQ(infiniband_capacity("400 Gb/sec (4X NDR)")->GBps, 50);
  EXPECT_DOUBLE_EQ(infiniband_capacity("800 Gb/sec (4X XDR)")->GBps, 100);
  EXPECT_DOUBLE_EQ(infiniband_capacity("40 Gb/sec (4X QDR)")->GBps, 4);
  for (const char* rate : {"", "100", "100 Gb/sec", "100 Gb/sec (4X)", "100 Gb/sec (4X ZDR)",
                           "100 Gb/sec )4X EDR(", "100 Gb/sec (4X PCIe gen3)"}) {
    EXPECT_FALSE(infiniband_capacity(rate)) << rate;
  }
  EXPECT_DOUBLE_EQ(ethernet_capacity(25000)->GBps, 3.125);
  EXPECT_DOUBLE_EQ(ethernet_capacity(400000)->GBps, 50);
  EXPECT_FALSE(ethernet_capacity(0));
}

TEST(LinkSpecifications, KnowTheLinksOfSomeSockets) {
  EXPECT_DOUBLE_EQ(socket_link("GenuineIntel", 6, 79)->GBps, 19.2);
  EXPECT_DOUBLE_EQ(socket_link("GenuineIntel", 6, 85)->GBps, 20.8);
  EXPECT_DOUBLE_EQ(socket_link("GenuineIntel", 6, 207)->GBps, 40);
  EXPECT_DOUBLE_EQ(socket_link("GenuineIntel", 6, 173)->GBps, 48);
  EXPECT_EQ(socket_link("GenuineIntel", 6, 207)->confidence, "low");
  EXPECT_EQ(socket_link("AuthenticAMD", 6, 85), nullptr);
  EXPECT_EQ(socket_link("GenuineIntel", 6, 1), nullptr);
}

}  // namespace
}  // namespace ucxbench
