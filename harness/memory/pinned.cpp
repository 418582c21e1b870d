#include "harness/memory/pinned.hpp"

#include <algorithm>

#include "harness/memory/cuda_driver.hpp"

namespace ucxbench {
namespace {

MemoryKind on_node(std::optional<int> node) {
  if (!node) return MemoryKind::host;
  return {.place = MemoryPlace::host, .way = MemoryWay::node, .node = *node};
}

}  // namespace

PinnedMemory::PinnedMemory(std::size_t bytes, std::optional<int> node)
    : pages_(on_node(node), bytes) {
  std::ranges::fill(pages_.bytes(), std::byte{0});
  CudaDriver::get().pin(pages_.bytes().data(), pages_.bytes().size());
}

PinnedMemory::~PinnedMemory() { CudaDriver::get().unpin(pages_.bytes().data()); }

}  // namespace ucxbench
