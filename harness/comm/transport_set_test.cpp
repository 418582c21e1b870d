#include "harness/comm/transport_set.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

UcxResources machine(std::vector<UcxResource> resources) {
  UcxResources all;
  all.version = "1.13.1";
  all.library = "/usr/lib/libucp.so.0";
  all.resources = std::move(resources);
  for (const auto& resource : all.resources) all.components.push_back(resource.component);
  return all;
}

TEST(TransportSet, NamesItsMembersInOneOrder) {
  EXPECT_EQ(TransportSet::parse("ib,tcp,nvlink").name(), "tcp+nvlink+ib");
  EXPECT_EQ(TransportSet::parse("tcp, shm, tcp").name(), "shm+tcp");
  EXPECT_EQ(TransportSet::parse("auto").name(), "auto");
}

TEST(TransportSet, RefusesUnknownNamesWithTheNearest) {
  try {
    TransportSet::parse("tcp,nvlnk");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_EQ(std::string(failure.what()),
              "--transports: unknown transport 'nvlnk': did you mean 'nvlink'? known: self, shm, "
              "tcp, nvlink, ib, auto");
  }
  EXPECT_THROW(TransportSet::parse(""), Failure);
  EXPECT_THROW(TransportSet::parse("auto,tcp"), Failure);
}

TEST(TransportSet, SetsWhatIsEnabledAndSaysWhy) {
  const auto settings = ucx_settings(TransportSet::parse("tcp,shm"), "lo", true);
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].key + "=" + settings[0].value, "UCX_TLS=sm,tcp");
  EXPECT_EQ(settings[1].key + "=" + settings[1].value, "UCX_NET_DEVICES=lo");
  EXPECT_EQ(settings[2].key, "UCX_SOCKADDR_TLS_PRIORITY");
  for (const auto& setting : settings) EXPECT_FALSE(setting.why.empty());
  EXPECT_EQ(ucx_settings(TransportSet::parse("shm"), "", false).size(), 1U);
}

TEST(TransportSet, SaysWhatIsMissing) {
  const auto plain = machine({{"tcp", "tcp", "lo"}, {"posix", "posix", "memory"}});
  EXPECT_TRUE(missing(TransportSet::parse("tcp,shm"), plain).empty());
  EXPECT_TRUE(missing(TransportSet::parse("tcp,shm"), plain, true).empty());
  EXPECT_EQ(missing(TransportSet::parse("shm"), plain, true).size(), 1U);
  const auto reasons = missing(TransportSet::parse("tcp,nvlink,ib"), plain);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_NE(reasons[0].find("CUDA"), std::string::npos);
  EXPECT_NE(reasons[1].find("without InfiniBand"), std::string::npos);
  const auto cluster = machine({{"ib", "rc_mlx5", "mlx5_0:1"}, {"cuda_ipc", "cuda_ipc", "cuda"}});
  EXPECT_TRUE(missing(TransportSet::parse("nvlink,ib"), cluster).empty());
  EXPECT_EQ(missing(TransportSet::parse("shm"), cluster).size(), 1U);
}

TEST(TransportSet, KnowsTheLanesOfItsMembers) {
  const auto shm = TransportSet::parse("shm");
  EXPECT_TRUE(carries(shm, "posix"));
  EXPECT_TRUE(carries(shm, "cma"));
  EXPECT_FALSE(carries(shm, "tcp"));
  EXPECT_TRUE(carries(TransportSet::parse("ib"), "rc_mlx5"));
  EXPECT_TRUE(carries(TransportSet::parse("ib"), "ud_verbs"));
  EXPECT_TRUE(carries(TransportSet::parse("auto"), "anything"));
}

}  // namespace
}  // namespace ucxbench
