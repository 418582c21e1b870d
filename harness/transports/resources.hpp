#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json.hpp"

namespace ucxbench {

/// One transport on one device, as UCT reports it: "tcp" on "lo", "posix" on "memory".
struct UcxResource {
  std::string component, transport, device;
};

/// What the UCX in use can do on this machine.
struct UcxResources {
  std::string version;                  ///< of the library that was loaded, "1.13.1"
  std::string headers;                  ///< of the headers that were compiled against
  std::string library;                  ///< path of the libucp that was loaded
  std::vector<std::string> components;  ///< also those without a device: "ib", "cuda_ipc"
  std::vector<UcxResource> resources;
  bool multi_threaded = false;                      ///< built with --enable-mt
  bool rdma_devices = false;                        ///< the kernel has any
  std::vector<std::string> registers_gpu_memory{};  ///< RDMA devices: "mlx5_0"
  std::vector<std::string> takes_dma_buf{};         ///< likewise, where UCX says so (from 1.14)
  /// Network interfaces that no TCP can use: "lo" and "is down", or "has no IPv4 address".
  std::map<std::string, std::string> idle_interfaces{};
  /// What a rank here may lock, as raise_lockable_bytes returns it.
  std::optional<std::uint64_t> lockable_bytes;
  /// Modules that are installed but do not load, about which UCX says nothing: "libuct_cuda.so" and
  /// the dynamic linker's reason.
  std::map<std::string, std::string> broken_modules;
  std::string modules{};  ///< the folder from which UCX loads them
  /// Every variable that it knows, with its value here (known_ucx_settings).
  std::map<std::string, std::string> settings{};

  bool has_component(std::string_view name) const {
    return std::ranges::find(components, name) != components.end();
  }
  bool has_transport(std::string_view name) const {
    return std::ranges::find(resources, name, &UcxResource::transport) != resources.end();
  }
};

/// "tcp/lo".
std::string in_words(const UcxResource& resource);

void to_json(Json& json, const UcxResources& resources);
void from_json(const Json& json, UcxResources& resources);

/// Memory that this process may lock, as RDMA devices need it (ulimit -l), after raising the limit
/// as far as that takes no privilege; none: any amount.
std::optional<std::uint64_t> raise_lockable_bytes();

/// Asks UCX. This starts UCX in the calling process: only for a process that ends right after, so
/// that ranks are forked by one that has never called it. Throws Failure(Exit::cannot_run), also
/// when it is older than 1.13, or older than what was compiled against, or its libraries come from
/// two installations: the sonames are the same, so that the dynamic linker mixes them.
UcxResources query_ucx();

}  // namespace ucxbench
