#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/memory/kind.hpp"

namespace ucxbench {

/// The NUMA nodes that this process may have memory on, ascending; empty where the system does not
/// say.
std::vector<int> memory_nodes();

/// Bytes of the system's page size, or of a huge page's where the kind is of these.
std::uint64_t page_bytes(const MemoryKind& kind);

/// Pages of this process for a kind of the host, not touched yet. Huge ones are so by the kernel's
/// own word (kernel_page_bytes). Throws Failure(Exit::cannot_run) where there is no such memory,
/// and says how to get huge pages, or which NUMA nodes there are.
class HostPages {
 public:
  HostPages(const MemoryKind& kind, std::size_t bytes);
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;
  ~HostPages();

  std::span<std::byte> bytes() const { return bytes_.first(asked_); }

  /// Of a kind with a node: throws Failure(Exit::cannot_run) unless the kernel says (move_pages)
  /// that each page, all of which were touched, is there.
  void check_node() const;

 private:
  MemoryKind kind_;
  std::size_t asked_;
  std::span<std::byte> bytes_;  ///< whole pages
};

/// The size of the pages behind an address (KernelPageSize of /proc/self/smaps), 0 if unknown.
std::uint64_t kernel_page_bytes(const std::byte* address);

}  // namespace ucxbench
