#include "harness/transports/transport_set.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/core/refusal_for_test.hpp"

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

TEST(TransportSet, IsReadAsItIsPrinted) {
  EXPECT_EQ(TransportSet::parse("tcp+nvlink").name(), TransportSet::parse("nvlink,tcp").name());
  EXPECT_EQ(TransportSet::parse(TransportSet::parse("ib,shm,tcp").name()).members().size(), 3U);
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

// As ucx_info -d and UCX_TLS have them.
TEST(TransportSet, TranslatesUcxsNames) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> ours = {
      {"shm", {"sm", "mm", "posix", "sysv", "cma", "knem", "xpmem"}},
      {"nvlink", {"cuda", "cuda_copy", "cuda_ipc", "gdr_copy"}},
      {"ib",
       {"rc", "rc_verbs", "rc_mlx5", "rc_x", "dc_mlx5", "ud_verbs", "ud_mlx5", "gga_mlx5", "srd"}}};
  for (const auto& [name, theirs] : ours) {
    for (const auto& given : theirs) {
      const auto refusal = refusal_by([&] { TransportSet::parse(given); });
      EXPECT_NE(refusal.find(fmt::format("'{}' is '{}' here", given, name)), std::string::npos)
          << refusal;
    }
  }
}

// The kernel would drop the probes of so many, and UCX end their connections.
TEST(TransportSet, HundredsOfRanksOfAHostProbeNoConnections) {
  const auto keep_idle = [](const char* names, int ranks, bool one_host) -> std::string {
    for (const auto& setting :
         ucx_settings(TransportSet::parse(names), {.one_host = one_host, .ranks_here = ranks})) {
      if (setting.key == "UCX_TCP_KEEPIDLE") return setting.value;
    }
    return "UCX's own";
  };
  EXPECT_EQ(keep_idle("tcp", 128, true), "UCX's own");
  EXPECT_EQ(keep_idle("tcp", 129, true), "inf");
  EXPECT_EQ(keep_idle("auto", 129, true), "inf");
  EXPECT_EQ(keep_idle("shm", 129, true), "UCX's own");
  EXPECT_EQ(keep_idle("tcp", 129, false), "UCX's own");
}

TEST(TransportSet, SetsWhatIsEnabledAndSaysWhy) {
  const auto settings =
      ucx_settings(TransportSet::parse("tcp,shm"), {.net_devices = "lo", .sockaddr = true});
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].key + "=" + settings[0].value, "UCX_TLS=sm,tcp");
  EXPECT_EQ(settings[1].key + "=" + settings[1].value, "UCX_NET_DEVICES=lo");
  EXPECT_EQ(settings[2].key, "UCX_SOCKADDR_TLS_PRIORITY");
  for (const auto& setting : settings) EXPECT_FALSE(setting.why.empty());
  EXPECT_EQ(ucx_settings(TransportSet::parse("shm"), {}).size(), 1U);
}

TEST(TransportSet, SaysWhatIsMissing) {
  const auto plain = machine({{"tcp", "tcp", "lo"}, {"posix", "posix", "memory"}});
  EXPECT_TRUE(missing(TransportSet::parse("tcp,shm"), plain).empty());
  EXPECT_TRUE(missing(TransportSet::parse("tcp,shm"), plain, {.sockaddr = true}).empty());
  EXPECT_EQ(missing(TransportSet::parse("shm"), plain, {.sockaddr = true}).size(), 1U);
  const auto reasons = missing(TransportSet::parse("tcp,nvlink,ib"), plain);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_NE(reasons[0].find("CUDA"), std::string::npos);
  EXPECT_NE(reasons[1].find("without InfiniBand"), std::string::npos);
  const auto cluster = machine({{"ib", "rc_mlx5", "mlx5_0:1"}, {"cuda_ipc", "cuda_ipc", "cuda"}});
  EXPECT_TRUE(missing(TransportSet::parse("nvlink,ib"), cluster).empty());
  EXPECT_EQ(missing(TransportSet::parse("shm"), cluster).size(), 1U);
}

std::string value_of(const std::vector<UcxSetting>& settings, const std::string& key) {
  for (const auto& setting : settings) {
    if (setting.key == key) return setting.value;
  }
  return "unset";
}

TEST(TransportSet, AddsWhatGpuMemoryNeeds) {
  const SetUse gpu = {.gpu_memory = true};
  const auto tls = [&](const char* set, const SetUse& use) {
    return value_of(ucx_settings(TransportSet::parse(set), use), "UCX_TLS");
  };
  EXPECT_EQ(tls("tcp", {}), "tcp");
  EXPECT_EQ(tls("tcp", gpu), "tcp,cuda_copy");
  EXPECT_EQ(tls("tcp,nvlink", gpu), "tcp,cuda_copy,cuda_ipc");
  EXPECT_EQ(tls("tcp,nvlink,ib", gpu), "tcp,cuda_copy,cuda_ipc,rc");
  EXPECT_EQ(tls("nvlink", gpu), "cuda_copy,cuda_ipc,sm");
  EXPECT_EQ(tls("nvlink", {.gpu_memory = true, .one_host = false}), "cuda_copy,cuda_ipc,tcp");
  EXPECT_EQ(tls("auto", gpu), "all");
  EXPECT_EQ(tls("tcp", {.gpu_memory = true, .gdr = true}), "tcp,cuda_copy,gdr_copy");
}

TEST(TransportSet, SetsWhatInfinibandNeeds) {
  const auto ib = TransportSet::parse("tcp,ib");
  const auto plain = ucx_settings(ib, {});
  EXPECT_EQ(value_of(plain, "UCX_MAX_RNDV_RAILS"), "1");
  EXPECT_EQ(value_of(plain, "UCX_MEMTYPE_REG_WHOLE_ALLOC_TYPES"), "unset");
  EXPECT_EQ(value_of(plain, "UCX_SOCKADDR_TLS_PRIORITY"), "unset");
  const auto all = ucx_settings(ib, {.sockaddr = true, .gpu_memory = true, .gdr = false});
  EXPECT_EQ(value_of(all, "UCX_SOCKADDR_TLS_PRIORITY"), "rdmacm");
  EXPECT_EQ(value_of(all, "UCX_MEMTYPE_REG_WHOLE_ALLOC_TYPES"), "cuda");
  EXPECT_EQ(value_of(all, "UCX_IB_GPU_DIRECT_RDMA"), "n");
  const auto tcp = ucx_settings(TransportSet::parse("tcp"), {.sockaddr = true});
  EXPECT_EQ(value_of(tcp, "UCX_SOCKADDR_TLS_PRIORITY"), "tcp");
  EXPECT_EQ(value_of(tcp, "UCX_MAX_RNDV_RAILS"), "unset");
}

TEST(TransportSet, SaysWhyGpuMemoryIsMissing) {
  auto plain = machine({{"tcp", "tcp", "lo"}});
  const auto tcp = TransportSet::parse("tcp");
  const auto why = missing(tcp, plain, {.gpu_memory = true});
  ASSERT_EQ(why.size(), 1U);
  EXPECT_NE(why[0].find("libucx-cu12"), std::string::npos) << why[0];
  plain.broken_modules["libuct_cuda.so"] = "libcuda.so.1: no such file";
  EXPECT_NE(missing(tcp, plain, {.gpu_memory = true})[0].find("does not load: libcuda.so.1"),
            std::string::npos);
}

TEST(TransportSet, RefusesInfinibandWithoutLockableMemory) {
  auto cluster = machine({{"ib", "rc_mlx5", "mlx5_0:1"}, {"tcp", "tcp", "lo"}});
  cluster.lockable_bytes = 8U << 20U;
  const auto why = missing(TransportSet::parse("tcp,ib"), cluster);
  ASSERT_EQ(why.size(), 1U);
  EXPECT_NE(why[0].find("only 8192 KiB"), std::string::npos) << why[0];
  EXPECT_NE(why[0].find("ulimit -l"), std::string::npos) << why[0];
  EXPECT_TRUE(missing(TransportSet::parse("tcp"), cluster).empty());
  cluster.lockable_bytes = 1U << 30U;
  EXPECT_TRUE(missing(TransportSet::parse("tcp,ib"), cluster).empty());
}

TEST(TransportSet, RefusesWhatAUserMakesOfIt) {
  const auto refused = [](const char* key, const char* value, const char* set, bool gpu_memory) {
    try {
      check_overrides({{key, value}}, TransportSet::parse(set), gpu_memory);
      return false;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit(), Exit::usage);
      EXPECT_NE(std::string(failure.what()).find(key), std::string::npos) << failure.what();
      return true;
    }
  };
  for (const auto* tls : {"tcp", "", "tcp,cuda_ipc", "^cuda", "^cuda_copy,sm"}) {
    EXPECT_TRUE(refused("UCX_TLS", tls, "tcp", true)) << tls;
    EXPECT_FALSE(refused("UCX_TLS", tls, "tcp", false)) << tls;
  }
  for (const auto* tls : {"tcp,cuda_copy", "sm, cuda", "all", "^sm"}) {
    EXPECT_FALSE(refused("UCX_TLS", tls, "tcp", true)) << tls;
  }
  constexpr auto managers = "UCX_SOCKADDR_TLS_PRIORITY";
  EXPECT_TRUE(refused(managers, "rdmacm", "tcp,shm", false));
  EXPECT_FALSE(refused(managers, "rdmacm", "tcp,ib", false));
  EXPECT_FALSE(refused(managers, "rdmacm", "auto", false));
  EXPECT_FALSE(refused(managers, "tcp", "tcp", false));
  EXPECT_FALSE(refused("UCX_RNDV_THRESH", "1K", "tcp", true));
}

}  // namespace
}  // namespace ucxbench
