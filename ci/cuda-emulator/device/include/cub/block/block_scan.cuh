#pragma once

#include "ci/cuda-emulator/device/include/cub/block/storage.hpp"

namespace cub {

template <typename T, int threads>
class BlockScan {
 public:
  using TempStorage = emulator::BlockStorage<T, threads>;

  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  void ExclusiveSum(T value, T& sum) {
    storage_.bring("cub::BlockScan", value);
    sum = T{};
    for (unsigned thread = 0; thread < emulator::thread_number(); ++thread) {
      sum += storage_.of(thread);
    }
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
