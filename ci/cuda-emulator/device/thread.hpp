#pragma once

// What a kernel's thread may ask of the emulator. Plain functions and structures only: an inline
// function here would be compiled as a part of the kernels, its own variables taken for theirs.

#include <cstddef>
#include <cstdint>

namespace emulator {

constexpr unsigned WARP_THREADS = 32;

/// As CUDA's dim3 and uint3.
struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

// The same all the time that a thread runs: the compiler may ask once.
__attribute__((const)) Dimensions grid_size();
__attribute__((const)) Dimensions block_size();
__attribute__((const)) Dimensions block_index();
__attribute__((const)) Dimensions thread_index();
/// The thread's number in its block.
__attribute__((const)) unsigned thread_number();

/// Where a thread waits: what for, and in which line of the source.
struct Meeting {
  const char* name = nullptr;  // as in CUDA, e.g. __syncthreads
  int line = 0;
  unsigned mask = 0;  // of lanes of the warp; 0: all threads of the block
};

/// What each lane of a warp has brought.
struct LaneValues {
  std::uint64_t of[WARP_THREADS];
};

/// Waits until all threads of the block are there. `is_barrier`: what they did before is ordered
/// before what they do afterwards.
void meet(const Meeting& meeting, bool is_barrier);
/// Waits until all lanes of the mask are there.
LaneValues meet_lanes(const Meeting& meeting, std::uint64_t value, bool is_barrier);

/// Before an atomic: lets others go first, now and then, and judges the address.
void about_to_change(const void* word, std::size_t bytes, const void* code);
/// Threads of all warps have read shared memory, as a function of CUB does.
void read_by_all(const void* shared, std::size_t bytes);

/// Ends the launch: "thread 7 " and this.
void fail(const char* what);

}  // namespace emulator
