#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "harness/memory/host_pages.hpp"

namespace ucxbench {

/// Page-aligned host memory that the CUDA driver has pinned, all on one NUMA node, or wherever the
/// system puts it. Throws Failure(Exit::cannot_run).
class PinnedMemory {
 public:
  PinnedMemory(std::size_t bytes, std::optional<int> node);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  std::span<std::byte> bytes() const { return pages_.bytes(); }

 private:
  HostPages pages_;
};

}  // namespace ucxbench
