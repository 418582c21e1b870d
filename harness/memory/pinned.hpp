#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ucxbench {

/// The NUMA nodes that this process may have memory on, ascending; empty where the system does not
/// say.
std::vector<int> memory_nodes();

/// Page-aligned host memory that the CUDA driver has pinned, all on one NUMA node, or wherever the
/// system puts it. Throws Failure(Exit::cannot_run).
class PinnedMemory {
 public:
  PinnedMemory(std::size_t bytes, std::optional<int> node);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace ucxbench
