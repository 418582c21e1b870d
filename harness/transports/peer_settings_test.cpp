#include "harness/transports/peer_settings.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"

namespace ucxbench {
namespace {

std::string said_of(const Variables& settings) {
  return refusal_by([&] { check_peer_settings(settings); });
}

TEST(PeerSettings, ChooseAndTuneTransports) {
  EXPECT_EQ(said_of({{"UCX_TLS", "tcp,cuda_copy"},
                     {"UCX_NET_DEVICES", "mlx5_0:1,lo"},
                     {"UCX_SOCKADDR_TLS_PRIORITY", "rdmacm"},
                     {"UCX_MAX_RNDV_RAILS", "1"},
                     {"UCX_RNDV_THRESH", "intra:8k,inter:inf"},
                     {"UCX_MEMTYPE_REG_WHOLE_ALLOC_TYPES", "cuda"},
                     {"UCX_IB_GPU_DIRECT_RDMA", "y"},
                     {"UCX_MULTI_PATH_RATIO", "0.1"},
                     {"UCX_RMA_ZCOPY_MAX_SEG_SIZE", "auto"},
                     {"UCX_PROTO_ENABLE", "n"}}),
            "accepted");
}

TEST(PeerSettings, NameNothingThatIsLoadedRunOrWritten) {
  for (const auto* name : {"LD_PRELOAD",
                           "PATH",
                           "UCX_MODULE_DIR",
                           "UCX_MODULES",
                           "UCX_LOG_FILE",
                           "UCX_PROFILE_FILE",
                           "UCX_GDB_COMMAND",
                           "UCX_ERROR_MAIL_TO",
                           "UCX_HANDLE_ERRORS",
                           "UCX_MEMTRACK_DEST",
                           "UCX_STATS_DEST",
                           "UCX_CONFIG_DIR",
                           "UCX_POSIX_DIR",
                           "UCX_PROTO_INFO_DIR",
                           "UCX_PLUGIN_PATH",
                           "UCX_VFS_SOCK_PATH",
                           "UCX_PRINT_TRANSPORT_TABLES",
                           "UCX_MEM_DLOPEN_PROCESS_RPATH",
                           "UCX_RNDV_DUMP_AT",
                           "UCX_TCP_TRACE_FILES",
                           "UCX_CUDA_MODULES",
                           "UCX_POSIX_DIR=",
                           "UCX_TLS=x\nLD_PRELOAD",
                           "ucx_TLS",
                           ""}) {
    EXPECT_EQ(said_of({{"UCX_TLS", "tcp"}, {name, "x"}}).find("the listening side may not set"), 0U)
        << name;
  }
  EXPECT_NE(said_of({{"UCX_TLS", "/tmp/x"}}), "accepted");
}

}  // namespace
}  // namespace ucxbench
