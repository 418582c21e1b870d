#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/memory/kind.hpp"

namespace ucxbench {

/// Whether an allocation's first page faults are over when it is handed out. Plain host memory
/// may also be of huge pages, touched, where the system grants them and it is large enough: what
/// strides through gigabytes misses the address translation's caches otherwise.
enum class Pages { touched, untouched, huge };

/// Copies to or from memory of this kind; the other side may be the same or the host's.
void copy_bytes(const MemoryKind& kind, void* to, const void* from, std::size_t bytes);

/// Page-aligned bytes of one kind, zeroed and touched unless it is asked for otherwise: no page
/// fault is left for the timed region. Move-only; message memory is allocated only in this file.
class Buffer {
 public:
  /// An allocation of its own. Throws Failure(Exit::cannot_run) when there is no such memory.
  Buffer(const MemoryKind& kind, std::size_t bytes, Pages pages = Pages::touched);

  /// For UCX. The host may read and write host and pinned memory there, never the others.
  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  MemoryKind kind() const;

  /// `bytes` of it from `offset` on: the same memory, which stays as long as either does.
  Buffer part(std::size_t offset, std::size_t bytes) const;

  /// The first `bytes` become the payload of `seed` (core/pattern.hpp); GPU memory is filled by
  /// copies of the driver.
  void fill(std::size_t bytes, std::uint64_t seed);

  /// The first `bytes` become what no message brings: a word that is drawn anew by each call, and
  /// of which two are a double that is no number. Everything that messages are received into is
  /// poisoned before they are sent, so that bytes which did not arrive are wrong bytes, whatever
  /// was there before. GPU memory is filled by the device.
  void poison(std::size_t bytes);
  void poison() { poison(size()); }
  /// All of it becomes zero, likewise.
  void zero() { set(size(), 0); }

  /// The offset of the first of `bytes` that is not the payload of `seed`.
  std::optional<std::size_t> mismatch(std::size_t bytes, std::uint64_t seed) const;

 private:
  friend class MemoryPool;
  class Allocation;
  Buffer(std::shared_ptr<Allocation> owner, std::span<std::byte> bytes);
  void set(std::size_t bytes, std::uint32_t word);

  std::shared_ptr<Allocation> owner_;
  std::span<std::byte> bytes_;
};

/// One allocation out of which buffers are cut: each allocation that a peer touches costs a mapping
/// of its own (CUDA IPC) or a registration (InfiniBand), a pool only one.
class MemoryPool {
 public:
  MemoryPool(const MemoryKind& kind, std::size_t bytes, Pages pages = Pages::touched);

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

/// Why this machine, here and now, has no memory of the kind, or empty; of kinds of the host.
std::string why_no_memory(const MemoryKind& kind);

/// What can be allocated on this host now without swapping: MemAvailable of /proc/meminfo, or what
/// the process's memory cgroup leaves if that is less.
std::uint64_t available_memory_bytes();

}  // namespace ucxbench
