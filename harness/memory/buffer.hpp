#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ucxbench {

/// Where a buffer lives: pages of the process; host memory that the CUDA driver has pinned; a GPU's
/// memory; memory that the driver moves between host and GPU.
enum class MemoryKind { host, pinned, cuda, managed };
MemoryKind parse_memory_kind(std::string_view name);
std::string_view to_string(MemoryKind kind);

/// Whether the kind comes from the CUDA driver, so that a CudaContext must be there first.
constexpr bool needs_cuda(MemoryKind kind) { return kind != MemoryKind::host; }

/// Whether messages of it come from or go to a GPU: UCX takes pinned memory for the host's.
constexpr bool on_gpu(MemoryKind kind) {
  return kind == MemoryKind::cuda || kind == MemoryKind::managed;
}

/// Whether an allocation's first page faults are over when it is handed out. Host memory may also
/// be of huge pages, touched, where the system grants them and it is large enough: what strides
/// through gigabytes misses the address translation's caches otherwise.
enum class Pages { touched, untouched, huge };

/// Copies to or from memory of this kind; the other side may be the same or the host's.
void copy_bytes(MemoryKind kind, void* to, const void* from, std::size_t bytes);

/// Page-aligned bytes of one kind, zeroed and touched unless it is asked for otherwise: no page
/// fault is left for the timed region. Move-only; message memory is allocated only in this file.
class Buffer {
 public:
  /// An allocation of its own. Throws Failure(Exit::cannot_run) when there is no such memory.
  Buffer(MemoryKind kind, std::size_t bytes, Pages pages = Pages::touched);

  /// For UCX. The host may read and write host and pinned memory there, never the others.
  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  MemoryKind kind() const;

  /// The first `bytes` become the payload of `seed` (core/pattern.hpp), or zero; GPU memory is
  /// filled by copies of the driver.
  void fill(std::size_t bytes, std::uint64_t seed);
  void zero(std::size_t bytes);

  /// The offset of the first of `bytes` that is not the payload of `seed`.
  std::optional<std::size_t> mismatch(std::size_t bytes, std::uint64_t seed) const;

 private:
  friend class MemoryPool;
  class Allocation;
  Buffer(std::shared_ptr<Allocation> owner, std::span<std::byte> bytes);

  std::shared_ptr<Allocation> owner_;
  std::span<std::byte> bytes_;
};

/// One allocation out of which buffers are cut: each allocation that a peer touches costs a mapping
/// of its own (CUDA IPC) or a registration (InfiniBand), a pool only one.
class MemoryPool {
 public:
  MemoryPool(MemoryKind kind, std::size_t bytes, Pages pages = Pages::touched);

  /// The next `bytes`, from the next multiple of `alignment`. Throws Failure(Exit::usage) when the
  /// pool is too small.
  Buffer take(std::size_t bytes);

  static constexpr std::size_t alignment = 4096;
  /// What buffers of these sizes take up.
  static std::size_t room_for(const std::vector<std::size_t>& sizes);

 private:
  std::shared_ptr<Buffer::Allocation> owner_;
  std::size_t used_ = 0;
};

/// The most bytes that this process has held in allocations at one time.
std::uint64_t peak_buffer_bytes();

/// What can be allocated on this host now without swapping: MemAvailable of /proc/meminfo, or what
/// the process's memory cgroup leaves if that is less.
std::uint64_t available_memory_bytes();

}  // namespace ucxbench
