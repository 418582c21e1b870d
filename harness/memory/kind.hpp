#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "harness/core/names.hpp"

namespace ucxbench {

/// Pages of the process; host memory that the CUDA driver has pinned; a GPU's memory; memory that
/// the driver moves between host and GPU.
enum class MemoryPlace { host, pinned, cuda, managed };

/// How memory of a place is asked for. Of the host: in huge pages, or on one NUMA node. Of a GPU:
/// from the driver's default pool, or as physical memory that is mapped (VMM) and can be passed on
/// as a file descriptor or as a fabric handle. Of managed memory: preferred on the GPU or on the
/// host, or mostly read.
enum class MemoryWay {
  plain,
  huge,
  node,
  async,
  vmm,
  fabric,
  prefer_gpu,
  prefer_host,
  read_mostly
};

/// What --memory names: "host", "cuda:async", "host:node1".
struct MemoryKind {
  MemoryPlace place = MemoryPlace::host;
  MemoryWay way = MemoryWay::plain;
  int node = 0;  ///< NUMA node of MemoryWay::node

  static const MemoryKind host, pinned, cuda, managed;  ///< as cudaMalloc and its like give them
  friend auto operator<=>(const MemoryKind&, const MemoryKind&) = default;
};

inline constexpr MemoryKind MemoryKind::host{MemoryPlace::host, MemoryWay::plain, 0};
inline constexpr MemoryKind MemoryKind::pinned{MemoryPlace::pinned, MemoryWay::plain, 0};
inline constexpr MemoryKind MemoryKind::cuda{MemoryPlace::cuda, MemoryWay::plain, 0};
inline constexpr MemoryKind MemoryKind::managed{MemoryPlace::managed, MemoryWay::plain, 0};

/// host:node0 stands for every node.
inline constexpr Names<MemoryKind, 12> memory_kinds = {
    {{MemoryKind::host, "host"},
     {{MemoryPlace::host, MemoryWay::huge, 0}, "host:huge"},
     {{MemoryPlace::host, MemoryWay::node, 0}, "host:node0"},
     {MemoryKind::pinned, "pinned"},
     {MemoryKind::cuda, "cuda"},
     {{MemoryPlace::cuda, MemoryWay::async, 0}, "cuda:async"},
     {{MemoryPlace::cuda, MemoryWay::vmm, 0}, "cuda:vmm"},
     {{MemoryPlace::cuda, MemoryWay::fabric, 0}, "cuda:fabric"},
     {MemoryKind::managed, "managed"},
     {{MemoryPlace::managed, MemoryWay::prefer_gpu, 0}, "managed:gpu"},
     {{MemoryPlace::managed, MemoryWay::prefer_host, 0}, "managed:host"},
     {{MemoryPlace::managed, MemoryWay::read_mostly, 0}, "managed:read"}}};

/// Throws Failure(Exit::usage) when there is no such kind.
MemoryKind parse_memory_kind(std::string_view name);
std::string to_string(const MemoryKind& kind);

/// Whether it is the process's own pages, which the CUDA driver does not know.
constexpr bool on_host(const MemoryKind& kind) { return kind.place == MemoryPlace::host; }

/// Whether the kind comes from the CUDA driver, so that a CudaContext must be there first.
constexpr bool needs_cuda(const MemoryKind& kind) { return !on_host(kind); }

/// Whether messages of it come from or go to a GPU: UCX takes pinned memory for the host's.
constexpr bool on_gpu(const MemoryKind& kind) {
  return kind.place == MemoryPlace::cuda || kind.place == MemoryPlace::managed;
}

/// Whether the host may read and write it. Managed memory not: a touch would bring its pages here.
constexpr bool host_may_touch(const MemoryKind& kind) { return !on_gpu(kind); }

}  // namespace ucxbench
