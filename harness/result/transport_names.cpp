#include "harness/result/transport_names.hpp"

#include <algorithm>

namespace ucxbench {

const std::vector<TransportName>& transport_names() {
  static const std::vector<TransportName> names = {
      {"self", "self", "a rank with itself, inside one process (with -n 1)"},
      {"shm", "sm", "shared memory and copies between processes of a host (posix, sysv, cma)"},
      {"tcp", "tcp", "TCP sockets on the devices of --net-devices"},
      {"nvlink", "cuda_copy,cuda_ipc",
       "allows cuda_ipc, GPU to GPU: over NVLink, PCIe or inside one GPU"},
      {"ib", "rc", "InfiniBand or RoCE, reliable connection"},
      {"auto", "all", "whatever UCX chooses by itself"}};
  return names;
}

std::vector<TlsValue> ucx_tls(const std::vector<std::string>& members, bool gpu_memory,
                              bool one_host) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(members, name) != members.end();
  };
  std::vector<TlsValue> values;
  for (const auto& known : transport_names()) {
    if (has(known.name)) values.push_back({.name = std::string(known.ucx_tls)});
  }
  if (has("auto")) return values;
  if (members == std::vector<std::string>{"nvlink"}) {
    values.push_back(
        {.name = one_host ? "sm" : "tcp",
         .why = "cuda_ipc carries no active messages, so UCX needs another transport for them"});
  }
  if (gpu_memory && !has("nvlink")) {
    values.push_back(
        {.name = "cuda_copy", .why = "cuda_copy: without it UCX takes GPU memory for host memory"});
  }
  return values;
}

}  // namespace ucxbench
