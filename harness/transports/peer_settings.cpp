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
                                                             "CONNECT_ALL_TO_ALL",
                                                             "CUDA_",
                                                             "DC_",
                                                             "DISTANCE_",
                                                             "DYNAMIC_TL_",
                                                             "EXTRA_OP_ATTR_FLAGS",
                                                             "FENCE_MODE",
                                                             "FLUSH_WORKER_EPS",
                                                             "GDR_COPY_",
                                                             "GGA_",
                                                             "GVA_",
                                                             "IB_",
                                                             "KEEPALIVE_",
                                                             "KNEM_",
                                                             "LISTENER_BACKLOG",
                                                             "LOG_LEVEL",
                                                             "MAX_",
                                                             "MEMTYPE_",
                                                             "MIN_",
                                                             "MM_",
                                                             "MULTI_",
                                                             "NET_DEVICES",
                                                             "NODE_LOCAL_ID",
                                                             "NT_BUFFER_",
                                                             "NUM_",
                                                             "POSIX_",
                                                             "PREFER_OFFLOAD",
                                                             "PROTOS",
                                                             "PROTO_",
                                                             "RCACHE_",
                                                             "RC_",
                                                             "RDMA_CM_",
                                                             "REG_NONBLOCK_",
                                                             "RESOLVE_REMOTE_EP_ID",
                                                             "RKEY_",
                                                             "RMA_",
                                                             "RNDV_",
                                                             "ROCM_",
                                                             "RX_",
                                                             "SA_DATA_VERSION",
                                                             "SCOPY_",
                                                             "SEG_SIZE",
                                                             "SELECT_DISTANCE_MD",
                                                             "SELF_",
                                                             "SHM_DEVICES",
                                                             "SINGLE_NET_DEVICE",
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
                                                             "WIREUP_VIA_AM_LANE",
                                                             "XPMEM_",
                                                             "ZCOPY_",
                                                             "ZE_"});

// Of what is a file, a program or a library, whatever a version of UCX may call it: UCX_POSIX_DIR,
// UCX_PROTO_INFO_DIR.
constexpr auto of_files =
    std::to_array<std::string_view>({"COMMAND", "DEST", "DUMP", "FILE", "MODULE"});
constexpr auto endings = std::to_array<std::string_view>({"_DIR", "_PATH", "_RPATH"});

// With a '=' it would be another variable's.
bool is_name(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

bool may_be_set(std::string_view name, std::string_view value) {
  constexpr std::string_view ucx = "UCX_";
  if (!name.starts_with(ucx) || !is_name(name)) return false;
  name.remove_prefix(ucx.size());
  return std::ranges::any_of(beginnings, [&](auto text) { return name.starts_with(text); }) &&
         std::ranges::none_of(of_files, [&](auto text) { return name.find(text) != name.npos; }) &&
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
