#pragma once

#include <optional>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "workloads/common/parameters.hpp"

namespace ucxbench {

/// A rank's memory of the kind that its case asks for.
class WorkloadMemory {
 public:
  /// Makes the CUDA context, if one is needed: before UCX starts. Throws Failure.
  WorkloadMemory(const WorkloadParameters& parameters, int rank_on_machine);

  /// Buffers of these sizes, at least a byte each: cut out of one pool, or with --no-pool each an
  /// allocation of its own. With --rmm-pool-size all calls share one pool.
  std::vector<Buffer> take(const std::vector<std::size_t>& bytes);

  /// This rank's GPU, if it has one.
  std::optional<CudaDevice> gpu() const { return device_of(context_); }

 private:
  MemoryKind kind_;
  bool pooled_;
  std::optional<CudaContext> context_;
  std::optional<MemoryPool> pool_;
};

}  // namespace ucxbench
