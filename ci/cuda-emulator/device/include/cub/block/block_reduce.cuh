#pragma once

#include "ci/cuda-emulator/device/include/cub/block/storage.hpp"

namespace cub {

/// Thread 0 gets the result, the others anything.
template <typename T, int threads>
class BlockReduce {
 public:
  using TempStorage = emulator::BlockStorage<T, threads>;

  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <typename Operation>
  T Reduce(T value, Operation operation) {
    storage_.bring("cub::BlockReduce", value);
    if (emulator::thread_number() != 0) return static_cast<T>(0xbadbadbadbadbadb);
    for (unsigned thread = 1; thread < threads; ++thread) {
      value = operation(value, storage_.of(thread));
    }
    return value;
  }
  T Sum(T value) {
    return Reduce(value, [](T a, T b) { return a + b; });
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
