#include "harness/result/transports.hpp"

#include <algorithm>

namespace ucxbench {

bool is_called(std::string_view lane, const std::vector<std::string_view>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) {
    return name.ends_with('_') ? lane.starts_with(name) : lane == name;
  });
}

const std::vector<Transport>& transports() {
  static const std::vector<Transport> all = {
      {.name = "self",
       .fabric = Fabric::process,
       .ucx_tls = "self",
       .description = "a rank with itself, inside one process (with -n 1)",
       .lanes = {"self"},
       .needed = {"self"}},
      {.name = "shm",
       .fabric = Fabric::shared_memory,
       .ucx_tls = "sm",
       .description = "shared memory and copies between processes of a host (posix, sysv, cma)",
       // The last three are Open MPI's and those of Unix sockets.
       .lanes = {"sm", "posix", "sysv", "cma", "knem", "xpmem", "memory", "vader", "unix"},
       .needed = {"posix", "sysv"},
       .also_called = {"mm"}},
      {.name = "tcp",
       .fabric = Fabric::sockets,
       .ucx_tls = "tcp",
       .description = "TCP sockets on the devices of --net-devices",
       .lanes = {"tcp"},
       .needed = {"tcp"}},
      {.name = "nvlink",
       .fabric = Fabric::gpu_links,
       .ucx_tls = "cuda_copy,cuda_ipc",
       .description = "allows cuda_ipc, GPU to GPU: over NVLink, PCIe or inside one GPU",
       .lanes = {"cuda_ipc"},
       .needed = {"cuda_ipc"},
       .also_called = {"cuda", "cuda_copy", "gdr_copy"},
       .carrier = "cuda_ipc",
       .component = "cuda_ipc",
       .module = "libuct_cuda.so",
       .without = "built without CUDA; one with CUDA: PyPI's libucx-cu12 (UCX=wheel "
                  "./scripts/run), HPC-X or conda-forge's ucx",
       .none_here = "finds no GPU for cuda_ipc"},
      {.name = "ib",
       .fabric = Fabric::rdma,
       .ucx_tls = "rc",
       .description = "InfiniBand or RoCE, reliable connection",
       .lanes = {"rc_", "dc_"},
       .needed = {"rc_"},
       .also_called = {"rc", "dc", "ud", "ud_", "gga_", "srd", "rdma", "roce", "infiniband",
                       "verbs"},
       .component = "ib",
       .module = "libuct_ib.so",
       .without = "built without InfiniBand (verbs); one with InfiniBand: Debian's libucx0 (not "
                  "PyPI's libucx), HPC-X or conda-forge's ucx",
       .none_here = "finds no InfiniBand port that is up (ibv_devinfo)"},
      {.name = "auto",
       .fabric = Fabric::any,
       .ucx_tls = "all",
       .description = "whatever UCX chooses by itself",
       .also_called = {"all"}}};
  return all;
}

const Transport* find_transport(std::string_view name) {
  const auto found = std::ranges::find(transports(), name, &Transport::name);
  return found == transports().end() ? nullptr : &*found;
}

Fabric fabric_of(std::string_view name) {
  const auto* found = find_transport(name);
  return found == nullptr ? Fabric::unknown : found->fabric;
}

const Transport* transport_called(std::string_view name) {
  for (const auto& known : transports()) {
    if (is_called(name, known.lanes) || is_called(name, known.also_called)) return &known;
  }
  return nullptr;
}

bool names_fabric(const std::vector<std::string>& members, Fabric fabric) {
  return std::ranges::any_of(members,
                             [&](const auto& member) { return fabric_of(member) == fabric; });
}

bool may_use(const std::vector<std::string>& members, Fabric fabric) {
  return names_fabric(members, fabric) || names_fabric(members, Fabric::any);
}

std::string transport_of_lane(std::string_view lane) {
  lane = lane.substr(0, lane.find('/'));
  for (const auto& transport : transports()) {
    if (is_called(lane, transport.lanes)) return std::string(transport.name);
  }
  if (lane == "cuda_copy" || lane == "gdr_copy") return "staging";
  if (lane.starts_with("ud_")) return "wireup";
  return std::string(lane);
}

std::vector<TlsValue> ucx_tls(const std::vector<std::string>& members, bool gpu_memory,
                              bool one_host) {
  std::vector<TlsValue> values;
  for (const auto& known : transports()) {
    if (std::ranges::find(members, known.name) != members.end()) {
      values.push_back({.name = std::string(known.ucx_tls)});
    }
  }
  if (names_fabric(members, Fabric::any)) return values;
  const bool by_gpus = names_fabric(members, Fabric::gpu_links);
  if (by_gpus && members.size() == 1) {
    values.push_back(
        {.name = one_host ? "sm" : "tcp",
         .why = "cuda_ipc carries no active messages, so UCX needs another transport for them"});
  }
  if (gpu_memory && !by_gpus) {
    values.push_back(
        {.name = "cuda_copy", .why = "cuda_copy: without it UCX takes GPU memory for host memory"});
  }
  return values;
}

}  // namespace ucxbench
