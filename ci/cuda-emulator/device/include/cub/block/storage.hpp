#pragma once

#include "ci/cuda-emulator/device/cuda.hpp"

namespace emulator {

/// The storage of one of CUB's block functions: what each thread brings. As CUB has it, a barrier
/// of the caller's must come before the storage is used again, and nothing else is ordered by it.
template <typename T, int threads>
struct BlockStorage {
  T brought[threads];

  /// Waits until every thread has brought its value.
  void bring(const char* function, const T& value) {
    const auto size = block_size();
    if (size.x != threads || size.y != 1 || size.z != 1) {
      fail("calls a function of CUB for another number of threads than the block has");
    }
    brought[thread_number()] = value;
    meet({.name = function}, false);
    if (thread_number() == 0) read_by_all(this, sizeof *this);
  }
  __attribute__((noinline, no_sanitize("thread"))) T of(unsigned thread) const {
    return brought[thread];
  }
};

}  // namespace emulator
