#include "workloads/common/memory.hpp"

#include <algorithm>

#include "harness/core/json.hpp"

namespace ucxbench {

WorkloadMemory::WorkloadMemory(const WorkloadParameters& p, int rank_on_machine)
    : kind_(p.kind()), pooled_(p.pool()) {
  if (needs_cuda(kind_)) context_.emplace(gpu_of_rank(p.devices, rank_on_machine));
  if (pooled_ && p.pool_bytes != 0) pool_.emplace(kind_, p.pool_bytes, Pages::huge);
}

std::vector<Buffer> WorkloadMemory::take(const std::vector<std::size_t>& bytes) {
  std::vector<std::size_t> sizes = bytes;
  for (auto& size : sizes) size = std::max<std::size_t>(size, 1);
  std::optional<MemoryPool> own;
  if (pooled_ && !pool_) own.emplace(kind_, MemoryPool::room_for(sizes), Pages::huge);
  auto* pool = own ? &*own : pool_ ? &*pool_ : nullptr;
  std::vector<Buffer> buffers;
  for (const auto size : sizes) {
    buffers.push_back(pool != nullptr ? pool->take(size) : Buffer(kind_, size, Pages::huge));
  }
  return buffers;
}

}  // namespace ucxbench
