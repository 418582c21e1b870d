#include "harness/transports/peer_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

// How the names of such settings begin, after UCX_, in UCX 1.13 to 1.22 (ucx_info -cf). Left out
// are those of modules, logs, profiles, traces, hooks and of what happens on errors.
constexpr auto beginnings = std::to_array<std::string_view>({"ACC_DEVICES",
                                                             "ADAPTIVE_PROGRESS",
                                                             "ADDRESS_VERSION",
                                                             "ALLOC_PRIO",
                                                             "ATOMIC_MODE",
                                                             "BCOPY_",
                                                             "CMA_",
                                                             "CM_",
                                                             "CUDA_",
                                                             "DC_",
                                                             "FLUSH_WORKER_EPS",
                                                             "GDR_COPY_",
                                                             "GGA_",
                                                             "IB_",
                                                             "KEEPALIVE_",
                                                             "KNEM_",
                                                             "LISTENER_BACKLOG",
                                                             "LOG_LEVEL",
                                                             "MAX_",
                                                             "MEMTYPE_",
                                                             "MIN_RNDV_",
                                                             "MM_",
                                                             "MULTI_LANE_",
                                                             "NET_DEVICES",
                                                             "NUM_",
                                                             "POSIX_",
                                                             "PREFER_OFFLOAD",
                                                             "PROTOS",
                                                             "PROTO_",
                                                             "RCACHE_",
                                                             "RC_",
                                                             "RDMA_CM_",
                                                             "RESOLVE_REMOTE_EP_ID",
                                                             "RKEY_",
                                                             "RNDV_",
                                                             "ROCM_",
                                                             "RX_",
                                                             "SA_DATA_VERSION",
                                                             "SCOPY_",
                                                             "SEG_SIZE",
                                                             "SELECT_DISTANCE_MD",
                                                             "SELF_",
                                                             "SHM_DEVICES",
                                                             "SOCKADDR_TLS_PRIORITY",
                                                             "SRD_",
                                                             "SYSV_",
                                                             "TCP_",
                                                             "TLS",
                                                             "TM_",
                                                             "TOPO_PRIO",
                                                             "UD_",
                                                             "UNIFIED_MODE",
                                                             "USE_MT_MUTEX",
                                                             "WARN_",
                                                             "XPMEM_",
                                                             "ZCOPY_",
                                                             "ZE_"});

// UCX_POSIX_DIR, UCX_PROTO_INFO_DIR.
constexpr auto endings =
    std::to_array<std::string_view>({"_COMMAND", "_DIR", "_FILE", "_PATH", "_RPATH"});

bool may_be_set(std::string_view name, std::string_view value) {
  constexpr std::string_view ucx = "UCX_";
  if (!name.starts_with(ucx)) return false;
  name.remove_prefix(ucx.size());
  return std::ranges::any_of(beginnings, [&](auto text) { return name.starts_with(text); }) &&
         std::ranges::none_of(endings, [&](auto text) { return name.ends_with(text); }) &&
         value.find('/') == std::string_view::npos;
}

}  // namespace

void check_peer_settings(const Variables& settings) {
  for (const auto& [name, value] : settings) {
    if (may_be_set(name, value)) continue;
    throw Failure(Exit::usage,
                  fmt::format("the listening side may not set {} on the connecting side: only what "
                              "chooses and tunes UCX's transports; set it there, in the shell",
                              in_one_line(name)));
  }
}

}  // namespace ucxbench
