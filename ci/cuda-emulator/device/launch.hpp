#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ci/cuda-emulator/device/shadow.hpp"
#include "ci/cuda-emulator/device/thread.hpp"

namespace emulator {

/// Memory that kernels may use, where it lies for them.
struct Range {
  std::uintptr_t begin = 0, end = 0;
  Shadow* shadow = nullptr;  ///< its own
};

struct Grid {
  Dimensions blocks, threads;
};

/// How a launch ended.
struct Outcome {
  std::string mistake;         ///< in words; empty: none was seen
  bool out_of_bounds = false;  ///< it was an address where the kernel has no memory
};

/// Runs `body` in every thread of every block, one block after another in an order that is drawn
/// from CUDA_EMULATOR_SEED. `ranges`: ascending. One launch at a time.
Outcome run_grid(const Grid& grid, std::span<const Range> ranges, void (*body)(const void*),
                 const void* arguments);

}  // namespace emulator
