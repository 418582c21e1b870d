#include "workloads/common/cuda_work.hpp"

#include <utility>

namespace ucxbench {

CudaWork::CudaWork(const void* fat_binary, std::size_t most_words, std::function<void()> progress)
    : progress_(std::move(progress)),
      module_(fat_binary),
      words_(MemoryKind::cuda, most_words * sizeof(std::uint64_t)),
      staged_(MemoryKind::pinned, most_words * sizeof(std::uint64_t)) {}

}  // namespace ucxbench
