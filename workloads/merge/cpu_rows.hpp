#pragma once

#include <array>
#include <cstdint>

#include "workloads/merge/rows.hpp"

namespace ucxbench::merge {

// The loops over rows that depend on a processor's vectors. All take up to block_rows rows, so that
// what one leaves for the next stays in the first-level cache.

inline constexpr std::uint64_t block_rows = 1024;

/// So many rows ahead the table's lines are fetched.
inline constexpr std::uint64_t lines_ahead = 16;

/// What a cache line takes of one column.
inline constexpr std::uint64_t line_words = 8;
struct alignas(64) Line {
  std::array<std::uint64_t, line_words> words;
};

/// Rows on their way to buckets, by whole cache lines past the caches: each bucket collects a line
/// of each column, as in Wassenberg and Sanders, "Engineering a multi-core radix sort", 2011.
struct Scattering {
  std::uint32_t columns;
  std::uint64_t* out;  ///< begins at a cache line
  /// By bucket: the index in `out` of its first row's key, and how many words on the next column
  /// is, whole lines of them.
  const std::uint64_t *starts, *strides;
  /// `columns` for each bucket. The last word of the first is the index of the bucket's next row:
  /// no other line is touched for it, and the line is stored when that word is the next one.
  Line* lines;
};

/// A hash table of unique keys: lines of up to line_words rows, which take the rows that hash to
/// them in the order in which they come.
struct RowTable {
  std::uint32_t columns;
  /// Line by line, the keys of its rows, then each payload column.
  std::uint64_t* words;
  /// Rows by line; 1 more than a line can take: further ones are in the next line.
  std::uint8_t* filled;
};

/// Of a block of rows those that a table has.
struct Matches {
  std::uint64_t rows = 0;
  std::array<std::uint32_t, block_rows> row;    ///< within the block
  std::array<std::uint64_t, block_rows> place;  ///< of the key, in the table's words
};

struct RowCode {
  /// piece[i]: in which of so many equal pieces the upper half of the hash of keys[i] lies, or the
  /// lower half.
  void (*upper_pieces)(const std::uint64_t* keys, std::uint64_t rows, std::uint64_t pieces,
                       std::uint32_t* piece);
  void (*lower_pieces)(const std::uint64_t* keys, std::uint64_t rows, std::uint64_t pieces,
                       std::uint32_t* piece);
  /// bucket[i] is row i's.
  void (*scatter)(const Scattering& scattering, const Rows& rows, const std::uint32_t* bucket);
  /// line[i] is where the search for keys[i] begins.
  void (*find)(const RowTable& table, const std::uint64_t* keys, const std::uint32_t* line,
               std::uint64_t rows, Matches& matches);
};

/// In C++ alone: for every processor.
RowCode plain_rows();
/// Only where has_avx2().
RowCode avx2_rows();
/// Only where has_avx512().
RowCode avx512_rows();

}  // namespace ucxbench::merge
