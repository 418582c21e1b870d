#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/host_device.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench::merge {

/// The hash that spreads keys. Its upper 32 bits choose the bucket, its lower 32 bits the slot in a
/// hash table: the rows of one bucket must not meet in a few slots.
UCXBENCH_HOST_DEVICE constexpr std::uint64_t hash_of(std::uint64_t key) {
  return mix64(key + 0x9e3779b97f4a7c15U);
}

/// The slot, of fewer than 2^32, where the search for a key begins.
UCXBENCH_HOST_DEVICE constexpr std::uint64_t slot_of(std::uint64_t hash, std::uint64_t slots) {
  return ((hash & 0xffffffffU) * slots) >> 32U;
}

/// Where a row goes: a rank, one of that rank's batches (what is exchanged and joined at a time)
/// and a part of the batch (what one hash table takes, small enough for a cache). Buckets are
/// numbered rank by rank, batch by batch, part by part.
struct Spread {
  std::uint32_t ranks = 1, batches = 1, parts = 1;

  UCXBENCH_HOST_DEVICE constexpr std::uint32_t per_rank() const { return batches * parts; }
  UCXBENCH_HOST_DEVICE constexpr std::uint32_t buckets() const { return ranks * per_rank(); }
  constexpr std::uint32_t blocks() const { return ranks * batches; }

  UCXBENCH_HOST_DEVICE constexpr std::uint32_t bucket_of(std::uint64_t hash) const {
    return static_cast<std::uint32_t>(((hash >> 32U) * buckets()) >> 32U);
  }
  UCXBENCH_HOST_DEVICE constexpr std::uint32_t rank_of(std::uint32_t bucket) const {
    return bucket / per_rank();
  }
};

/// A block is what one rank sends another of one batch of one table: `rows` rows, column after
/// column, so that one message carries it, or one per column. Each column begins at a cache line:
/// the places of a row's words in their lines are then the same.
struct Block {
  std::uint64_t first_row = 0;  ///< room of the blocks before it, in rows
  std::uint64_t rows = 0;

  /// From one column to the next, in words; room for so many rows.
  std::uint64_t stride() const { return (rows + 7) / 8 * 8; }
  /// Of one message, up to the last row of the last column.
  std::uint64_t words(std::uint32_t columns) const { return stride() * (columns - 1) + rows; }
  std::uint64_t first_word(std::uint32_t columns) const { return first_row * columns; }
};

/// Room that all blocks take up, in rows.
std::uint64_t room_of(const std::vector<Block>& blocks);

/// Blocks of a table that is partitioned into buckets of these sizes, in the buckets' order.
std::vector<Block> blocks_of(const Spread& spread, const std::vector<std::uint64_t>& bucket_rows);

/// For each bucket the place, in 8-byte words from the table's begin, of its first row in column 0;
/// the next column's is its block's stride on.
std::vector<std::uint64_t> bucket_words(const Spread& spread,
                                        const std::vector<std::uint64_t>& bucket_rows,
                                        std::uint32_t columns);

/// The spread for `rows` rows per rank and side: so many parts that one has about `part_rows` rows,
/// whose hash table fits a cache, as far as `most_buckets`, which a partition pass can fill at full
/// speed, allows.
Spread spread_for(std::uint32_t ranks, std::uint32_t batches, std::uint64_t rows,
                  std::uint32_t most_buckets, std::uint64_t part_rows);

/// Bytes that must cross between ranks, all ranks together: of both tables' 2·N·L rows the part
/// (N−1)/N that hashes to another rank.
std::uint64_t bytes_to_exchange(std::uint64_t ranks, std::uint64_t rows, std::uint32_t columns);

}  // namespace ucxbench::merge
