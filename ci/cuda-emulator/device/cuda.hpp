#pragma once

// CUDA's words for a .cu file that is compiled for the host, as far as the kernels here use them: a
// word that is missing does not compile. Threads are the fibers of Block.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ci/cuda-emulator/device/guard.hpp"
#include "ci/cuda-emulator/device/thread.hpp"

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

// One of each is enough, since blocks run one after another. A guard lies on either side.
#define CUDA_SHARED static __attribute__((used, section("cuda_shared")))
#define CUDA_GUARD_NAME(number) guard_##number
#define CUDA_GUARD(number) \
  CUDA_SHARED emulator::Guard CUDA_GUARD_NAME(number) = emulator::whole_guard()
#define __shared__         \
  CUDA_GUARD(__COUNTER__); \
  CUDA_SHARED

#define threadIdx (emulator::thread_index())
#define blockIdx (emulator::block_index())
#define blockDim (emulator::block_size())
#define gridDim (emulator::grid_size())

inline void __syncthreads(int line = __builtin_LINE()) {
  emulator::meet({.name = "__syncthreads", .line = line}, true);
}

inline void __syncwarp(unsigned mask = 0xffffffff, int line = __builtin_LINE()) {
  emulator::meet_lanes({.name = "__syncwarp", .line = line, .mask = mask}, 0, true);
}

// Votes and shuffles do not order memory.
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  const auto brought = emulator::meet_lanes({.name = "__ballot_sync", .line = line, .mask = mask},
                                            predicate != 0 ? 1 : 0, false);
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < emulator::WARP_THREADS; ++lane) {
    ballot |= static_cast<unsigned>(brought.of[lane]) << lane;
  }
  return ballot;
}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const auto brought =
      emulator::meet_lanes({.name = "__shfl_sync", .line = line, .mask = mask}, bits, false);
  const auto lanes = static_cast<unsigned>(width);
  const auto lane = emulator::thread_number() % emulator::WARP_THREADS / lanes * lanes +
                    static_cast<unsigned>(source) % lanes;
  if ((mask >> lane & 1U) == 0) emulator::fail("reads, by __shfl_sync, a lane outside of its mask");
  std::memcpy(&value, &brought.of[lane], sizeof value);
  return value;
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

template <typename T>
T __ldcs(const T* from) {
  return *from;
}

template <typename T>
void __stcs(T* to, T value) {
  *to = value;
}

namespace emulator {

/// Changes *word to change(*word) as one step; what it was.
template <typename T, typename Change>
__attribute__((noinline, no_sanitize("thread"))) T atomically(T* word, Change change) {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
                std::is_same_v<T, unsigned long long>);
  about_to_change(word, sizeof(T), __builtin_return_address(0));
  const T before = *word;
  *word = change(before);
  return before;
}

}  // namespace emulator

template <typename T>
T atomicAdd(T* word, std::type_identity_t<T> value) {
  return emulator::atomically(word, [=](T before) { return before + value; });
}
template <typename T>
T atomicXor(T* word, std::type_identity_t<T> value) {
  return emulator::atomically(word, [=](T before) { return before ^ value; });
}
template <typename T>
T atomicCAS(T* word, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return emulator::atomically(word, [=](T before) { return before == expected ? value : before; });
}
