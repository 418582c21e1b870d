#include "harness/comm/mpi_settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace ucxbench {
namespace {

std::map<std::string, std::string> settings(const std::string& set, const SetUse& use = {},
                                            bool crowded = false) {
  std::map<std::string, std::string> all;
  for (const auto& setting : mpi_settings(TransportSet::parse(set), use, crowded)) {
    all[setting.key] = setting.value;
  }
  return all;
}

TEST(MpiSettings, NameTheTransportsOfTheSet) {
  EXPECT_EQ(settings("tcp").at("OMPI_MCA_btl"), "self,tcp");
  EXPECT_EQ(settings("shm").at("OMPI_MCA_btl"), "self,vader");
  EXPECT_EQ(settings("tcp,shm").at("OMPI_MCA_btl"), "self,vader,tcp");
  EXPECT_EQ(settings("tcp").at("OMPI_MCA_pml"), "ob1");
  EXPECT_FALSE(settings("tcp").contains("UCX_TLS"));
  EXPECT_FALSE(settings("auto").contains("OMPI_MCA_pml"));
  EXPECT_FALSE(settings("auto").contains("OMPI_MCA_btl"));
}

TEST(MpiSettings, LeaveInfiniBandToUcx) {
  const auto of_ib = settings("ib");
  EXPECT_EQ(of_ib.at("OMPI_MCA_pml"), "ucx");
  EXPECT_EQ(of_ib.at("OMPI_MCA_opal_common_ucx_tls"), "any");
  EXPECT_TRUE(of_ib.contains("UCX_TLS"));
  EXPECT_FALSE(of_ib.contains("OMPI_MCA_btl"));
}

TEST(MpiSettings, HaveTheNetworkDevices) {
  constexpr auto* key = "OMPI_MCA_btl_tcp_if_include";
  EXPECT_EQ(settings("tcp", {.net_devices = "lo"}).at(key), "lo");
  EXPECT_EQ(settings("tcp", {.net_devices = "eth0,mlx5_0:1,eth1"}).at(key), "eth0,eth1");
  EXPECT_FALSE(settings("tcp", {.net_devices = "all"}).contains(key));
}

TEST(MpiSettings, LetCrowdedRanksYield) {
  EXPECT_EQ(settings("tcp").at("OMPI_MCA_mpi_yield_when_idle"), "0");
  EXPECT_EQ(settings("tcp", {}, true).at("OMPI_MCA_mpi_yield_when_idle"), "1");
}

TEST(MpiSettings, SayWhyNot) {
  const MpiFound here{.library = "Open MPI v4.1.4", .mpirun = "mpirun"};
  const auto why = [](const MpiFound& found, const std::string& set, bool gpu_memory = false,
                      const SetUse& use = {}) {
    return why_no_mpi(found, TransportSet::parse(set), gpu_memory, use);
  };
  EXPECT_EQ(why(here, "tcp"), "");
  EXPECT_EQ(why({.why_not = "mpi: none"}, "tcp"), "mpi: none");
  EXPECT_NE(why(here, "tcp", false, {.one_host = false}).find("on one host"), std::string::npos);
  EXPECT_NE(why(here, "ib").find("lacks"), std::string::npos);
  EXPECT_NE(why(here, "self").find("tcp and shm"), std::string::npos);
  EXPECT_NE(why(here, "tcp", true).find("the host's memory only"), std::string::npos);
  auto more = here;
  more.gpu_memory = more.over_ucx = true;
  EXPECT_EQ(why(more, "ib", true), "");
}

}  // namespace
}  // namespace ucxbench
