// The kernels of CudaKernels: device code only, compiled to a fat binary that is embedded in the
// program (ucxbench_cuda_image of cmake/Cuda.cmake).

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "workloads/common/cuda_device.cuh"
#include "workloads/merge/cuda_arguments.hpp"

namespace ucxbench::merge {
namespace {

constexpr unsigned warp_threads = 32;
constexpr unsigned whole_warp = 0xffffffff;

__device__ std::uint32_t bucket_of(const Spread& spread, std::uint64_t key) {
  return spread.bucket_of(hash_of(key));
}

__device__ std::uint64_t next_slot(const HashTable& table, std::uint64_t slot) {
  return slot + 1 == table.slots ? 0 : slot + 1;
}

// The sum of all threads' values is added to `total`.
__device__ void add_from_block(std::uint64_t value, std::uint64_t* total) {
  using Reduce = cub::BlockReduce<std::uint64_t, block_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const auto sum = Reduce(storage).Sum(value);
  if (threadIdx.x == 0 && sum != 0) atomicAdd(counter(total), sum);
}

__device__ void xor_from_block(std::uint64_t value, std::uint64_t* total) {
  using Reduce = cub::BlockReduce<std::uint64_t, block_threads>;
  __shared__ typename Reduce::TempStorage storage;
  const auto parity =
      Reduce(storage).Reduce(value, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
  if (threadIdx.x == 0) atomicXor(counter(total), parity);
}

}  // namespace

UCXBENCH_KERNEL(merge_generate, GenerateArguments) {
  for (auto row = own_number(); row < a.rows; row += all_threads()) {
    a.out[row] = a.formula.key(a.side, a.first + row);
    for (std::uint32_t column = 1; column < a.columns; ++column) {
      a.out[column * a.rows + row] = a.formula.payload(a.side, a.first + row, column - 1);
    }
  }
}

UCXBENCH_KERNEL(merge_count, CountArguments) {
  __shared__ unsigned held[most_cuda_buckets];
  held[threadIdx.x] = 0;
  __syncthreads();
  for (auto row = own_number(); row < a.table.rows; row += all_threads()) {
    atomicAdd(&held[bucket_of(a.spread, a.table.words[row])], 1U);
  }
  __syncthreads();
  if (held[threadIdx.x] != 0) atomicAdd(counter(a.counts + threadIdx.x), held[threadIdx.x]);
}

// Each block orders one tile by bucket in shared memory, so that neighbouring threads write
// neighbouring words. Within a bucket the order is arbitrary, but one for all columns.
UCXBENCH_KERNEL(merge_scatter, ScatterArguments) {
  constexpr unsigned rows_each = tile_rows / block_threads;
  using Scan = cub::BlockScan<unsigned, block_threads>;
  __shared__ typename Scan::TempStorage scan_storage;
  __shared__ std::uint64_t tile[tile_rows];
  __shared__ std::uint8_t bucket_at[tile_rows];
  __shared__ unsigned held[most_cuda_buckets];   // rows of each bucket
  __shared__ unsigned begin[most_cuda_buckets];  // where they begin in the tile
  // Where a bucket's rows go, less where they begin: place in the tile + this = place in `out`.
  __shared__ std::uint64_t shift[most_cuda_buckets];

  const auto own = threadIdx.x;
  const auto first = std::uint64_t{blockIdx.x} * tile_rows;
  const auto left = a.table.rows - first;
  const auto rows = left < tile_rows ? static_cast<unsigned>(left) : tile_rows;
  held[own] = 0;
  __syncthreads();

  unsigned place[rows_each];  // in the bucket, whose number stands above it; later in the tile
#pragma unroll
  for (unsigned i = 0; i < rows_each; ++i) {
    const auto row = i * block_threads + own;
    if (row >= rows) continue;
    const auto bucket = bucket_of(a.spread, a.table.words[first + row]);
    place[i] = bucket << 16U | atomicAdd(&held[bucket], 1U);
  }
  __syncthreads();

  // From here on this thread is bucket number `own`.
  const auto in_bucket = held[own];
  unsigned before = 0;
  Scan(scan_storage).ExclusiveSum(in_bucket, before);
  begin[own] = before;
  std::uint64_t stride = 0;
  if (in_bucket != 0) {
    stride = a.strides[own / a.spread.parts];
    shift[own] = a.starts[own] + atomicAdd(counter(a.filled + own), in_bucket) - before;
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < rows_each; ++i) {
    if (i * block_threads + own >= rows) continue;
    const auto bucket = place[i] >> 16U;
    place[i] = begin[bucket] + (place[i] & 0xffffU);
    bucket_at[place[i]] = static_cast<std::uint8_t>(bucket);
  }

  for (std::uint32_t column = 0; column < a.columns; ++column) {
    const auto* from = a.table.words + column * a.table.stride + first;
#pragma unroll
    for (unsigned i = 0; i < rows_each; ++i) {
      const auto row = i * block_threads + own;
      if (row < rows) tile[place[i]] = from[row];
    }
    __syncthreads();
    for (auto at = own; at < rows; at += block_threads) {
      a.out[shift[bucket_at[at]] + at] = tile[at];
    }
    __syncthreads();
    if (in_bucket != 0) shift[own] += stride;
  }
}

UCXBENCH_KERNEL(merge_clear, ClearArguments) {
  const auto words = a.table.slots * a.table.columns;
  for (auto word = own_number(); word < words; word += all_threads()) a.table.words[word] = no_key;
}

// Of a hundred million keys that differ the longest search is some hundred slots.
constexpr unsigned most_tries = 512;

UCXBENCH_KERNEL(merge_build, BuildArguments) {
  const auto& from = a.segments.rows[blockIdx.y];
  for (auto row = own_number(); row < from.rows; row += all_threads()) {
    const auto key = from.words[row];
    auto slot = slot_of(hash_of(key), a.table.slots);
    // At a load of one half an empty one is near, unless keys are alike: wrong ones have come then,
    // which verification names, and the row is left out.
    unsigned tries = 0;
    while (tries < most_tries &&
           atomicCAS(counter(a.table.words + slot * a.table.columns), no_key, key) != no_key) {
      slot = next_slot(a.table, slot);
      ++tries;
    }
    if (tries == most_tries) continue;
    auto* to = a.table.words + slot * a.table.columns;
    for (std::uint32_t column = 1; column < a.table.columns; ++column) {
      to[column] = from.words[column * from.stride + row];
    }
  }
}

// A thread looks several rows up, so that their misses overlap, and a warp takes the room for all
// that it found at once, since every warp adds to the same word.
UCXBENCH_KERNEL(merge_probe, ProbeArguments) {
  constexpr unsigned rows_each = 4;
  const auto& from = a.segments.rows[blockIdx.y];
  const auto lane = threadIdx.x % warp_threads;
  const auto columns = a.table.columns;
  const auto step = std::uint64_t{gridDim.x} * block_threads * rows_each;
  for (auto base = std::uint64_t{blockIdx.x} * block_threads * rows_each; base < from.rows;
       base += step) {
    const std::uint64_t* slots[rows_each];  // null: no match
    unsigned matching[rows_each];           // threads of the warp
    unsigned total = 0;
#pragma unroll
    for (unsigned i = 0; i < rows_each; ++i) {
      const auto row = base + i * block_threads + threadIdx.x;
      slots[i] = nullptr;
      if (row < from.rows) {
        const auto key = from.words[row];
        auto slot = slot_of(hash_of(key), a.table.slots);
        auto there = a.table.words[slot * columns];
        while (there != key && there != no_key) {
          slot = next_slot(a.table, slot);
          there = a.table.words[slot * columns];
        }
        if (there == key) slots[i] = a.table.words + slot * columns;
      }
      matching[i] = __ballot_sync(whole_warp, slots[i] != nullptr);
      total += __popc(matching[i]);
    }
    if (total == 0) continue;
    unsigned long long place = 0;
    if (lane == 0) place = atomicAdd(counter(a.found), total);
    place = a.out.rows + __shfl_sync(whole_warp, place, 0);
#pragma unroll
    for (unsigned i = 0; i < rows_each; ++i) {
      const auto at = place + __popc(matching[i] & ((1U << lane) - 1));
      place += __popc(matching[i]);
      // The host reads in `found` that there was no room.
      if (slots[i] == nullptr || at >= a.out.capacity) continue;
      const auto row = base + i * block_threads + threadIdx.x;
      auto* to = a.out.words + at;
      for (std::uint32_t column = 0; column < columns; ++column) {
        to[column * a.out.capacity] = slots[i][column];
      }
      for (std::uint32_t column = 1; column < columns; ++column) {
        to[(columns - 1 + column) * a.out.capacity] = from.words[column * from.stride + row];
      }
    }
  }
}

UCXBENCH_KERNEL(merge_key_sum, KeySumArguments) {
  std::uint64_t sum = 0;
  for (auto row = own_number(); row < a.rows.rows; row += all_threads()) {
    sum += hash_of(a.rows.words[row]);
  }
  add_from_block(sum, a.sum);
}

UCXBENCH_KERNEL(merge_misplaced_rows, MisplacedRowsArguments) {
  std::uint64_t count = 0;
  for (auto row = own_number(); row < a.rows.rows; row += all_threads()) {
    const auto bucket = bucket_of(a.spread, a.rows.words[row]);
    count += a.spread.rank_of(bucket) == a.rank ? 0 : 1;
  }
  add_from_block(count, a.count);
}

UCXBENCH_KERNEL(merge_checksum, ChecksumArguments) {
  std::uint64_t sum = 0;
  std::uint64_t parity = 0;
  const auto width = 2 * a.columns - 1;
  for (auto row = own_number(); row < a.joined.rows; row += all_threads()) {
    auto word = fold(0, a.joined.words[row]);
    for (std::uint32_t column = 1; column < width; ++column) {
      word = fold(word, a.joined.words[column * a.joined.capacity + row] ^ a.salt);
    }
    sum += word;
    parity ^= word;
  }
  add_from_block(sum, a.sum);
  xor_from_block(parity, a.sum + 1);
}

}  // namespace ucxbench::merge
