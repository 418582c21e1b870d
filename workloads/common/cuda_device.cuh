#pragma once

// What the kernels of all workloads share: device code only.

#include <cstdint>

// A kernel's arguments stay in constant memory, also where they are indexed. `block_threads` is the
// workload's.
#define UCXBENCH_KERNEL(name, Arguments)                         \
  extern "C" __global__ void __launch_bounds__(block_threads, 4) \
      name(const __grid_constant__ Arguments a)

namespace ucxbench {

__device__ inline std::uint64_t own_number() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__device__ inline std::uint64_t all_threads() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// What CUDA's functions call a 64-bit word.
__device__ inline unsigned long long* counter(std::uint64_t* word) {
  return reinterpret_cast<unsigned long long*>(word);
}

}  // namespace ucxbench
