#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ucxbench {

/// Where a buffer lives. Host memory for now; a GPU kind is one more value here and one more case
/// in buffer.cpp.
enum class MemoryKind { host };
MemoryKind parse_memory_kind(std::string_view name);
std::string_view to_string(MemoryKind kind);

/// Page-aligned bytes of one kind, zeroed and touched: no page fault is left for the timed region.
/// Move-only; the only place where message memory is allocated.
class Buffer {
 public:
  /// Throws Failure(Exit::cannot_run) when there is no such memory.
  Buffer(MemoryKind kind, std::size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::span<std::byte> bytes() { return {data_, size_}; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  MemoryKind kind() const { return kind_; }

 private:
  MemoryKind kind_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The most bytes of buffers that this process has held at one time.
std::uint64_t peak_buffer_bytes();

/// What can be allocated on this host now without swapping: MemAvailable of /proc/meminfo, or what
/// the process's memory cgroup leaves if that is less.
std::uint64_t available_memory_bytes();

}  // namespace ucxbench
