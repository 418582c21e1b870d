#pragma once

#include <cstdint>

#include "workloads/merge/formula.hpp"
#include "workloads/merge/rows.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

// What the kernels of cuda_kernels.cu take: one structure each, by value, which bears the kernel's
// name. Words that kernels add to (counts, sums, cursors) begin at zero.

/// A block of threads; one per bucket in the partition pass.
inline constexpr unsigned block_threads = 256;
inline constexpr unsigned most_cuda_buckets = block_threads;
/// Rows that one block partitions: what fits 48 KiB of shared memory.
inline constexpr unsigned tile_rows = 16 * block_threads;
/// What one launch takes; CUDA passes 4096 bytes of arguments anywhere.
inline constexpr unsigned most_segments = 64;

struct GenerateArguments {
  static constexpr const char* kernel = "merge_generate";
  Formula formula;
  Side side;
  std::uint32_t columns;
  std::uint64_t first, rows;
  std::uint64_t* out;
};

struct CountArguments {
  static constexpr const char* kernel = "merge_count";
  Rows table;
  Spread spread;
  std::uint64_t* counts;  ///< by bucket
};

struct ScatterArguments {
  static constexpr const char* kernel = "merge_scatter";
  Rows table;
  Spread spread;
  std::uint32_t columns;
  const std::uint64_t* starts;   ///< by bucket, as in Kernels::scatter
  const std::uint64_t* strides;  ///< by block
  std::uint64_t* filled;         ///< rows of each bucket so far
  std::uint64_t* out;
};

/// Slots of one row each, all columns beside each other so that one memory sector holds them.
struct HashTable {
  std::uint64_t* words;
  std::uint64_t slots;
  std::uint32_t columns;
};

/// Rows in several places: each is the work of one row of blocks.
struct Segments {
  Rows rows[most_segments];  // kernels know no std::array
};

struct ClearArguments {
  static constexpr const char* kernel = "merge_clear";
  HashTable table;
};

struct BuildArguments {
  static constexpr const char* kernel = "merge_build";
  HashTable table;
  Segments segments;
};

struct ProbeArguments {
  static constexpr const char* kernel = "merge_probe";
  HashTable table;
  Joined out;  ///< `rows` of it are filled before
  std::uint64_t* found;
  Segments segments;
};

static_assert(sizeof(ProbeArguments) <= 4096);

struct KeySumArguments {
  static constexpr const char* kernel = "merge_key_sum";
  Rows rows;
  std::uint64_t* sum;
};

struct MisplacedRowsArguments {
  static constexpr const char* kernel = "merge_misplaced_rows";
  Rows rows;
  Spread spread;
  std::uint32_t rank;
  std::uint64_t* count;
};

struct ChecksumArguments {
  static constexpr const char* kernel = "merge_checksum";
  Joined joined;
  std::uint32_t columns;  ///< of each side
  std::uint64_t salt;     ///< of payloads
  std::uint64_t* sum;     ///< and behind it the parity
};

}  // namespace ucxbench::merge
