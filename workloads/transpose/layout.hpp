#pragma once

#include <cstdint>

#include "harness/core/host_device.hpp"

namespace ucxbench::transpose {

/// A rectangle of the array.
struct Tile {
  std::uint64_t first_row = 0, first_column = 0;
  std::uint64_t rows = 0, columns = 0;

  constexpr std::uint64_t elements() const { return rows * columns; }
  constexpr std::uint64_t bytes() const { return elements() * sizeof(double); }
  /// Where it stands in the transposed array.
  UCXBENCH_HOST_DEVICE constexpr Tile transposed() const {
    return {first_column, first_row, columns, rows};
  }
};

/// How the n×n array lies. Chunks cut its rows and columns into stretches of `chunk`, the last one
/// shorter if need be, and so the array into tiles. A rank has neighbouring chunk rows, as many as
/// any other or one more; with more ranks than chunk rows some have none.
///
/// A rank's x holds its tiles chunk row by chunk row, from left to right, each by itself row-major
/// and without gaps: a tile is a message as it stands. In its y each row of a tile begins at a
/// cache line, so that y can be written by whole lines whatever the size; y is never sent.
struct Layout {
  std::uint64_t size = 1;  ///< n
  std::uint64_t chunk = 1;
  std::uint64_t ranks = 1;

  constexpr std::uint64_t chunks() const { return (size + chunk - 1) / chunk; }
  constexpr std::uint64_t extent(std::uint64_t k) const {
    return k + 1 < chunks() ? chunk : size - k * chunk;
  }
  constexpr Tile tile(std::uint64_t i, std::uint64_t j) const {
    return {i * chunk, j * chunk, extent(i), extent(j)};
  }

  /// The rank's chunk rows are [first_chunk(rank), first_chunk(rank + 1)).
  constexpr std::uint64_t first_chunk(std::uint64_t rank) const { return rank * chunks() / ranks; }
  constexpr std::uint64_t own_chunks(std::uint64_t rank) const {
    return first_chunk(rank + 1) - first_chunk(rank);
  }
  std::uint64_t rank_of(std::uint64_t i) const;
  std::uint64_t rows_of(std::uint64_t rank) const;

  /// Where tile (i, j) begins in the x and the y of its rank, in elements.
  std::uint64_t place_in_x(std::uint64_t i, std::uint64_t j) const;
  std::uint64_t place_in_y(std::uint64_t i, std::uint64_t j) const;
  std::uint64_t x_bytes(std::uint64_t rank) const;
  std::uint64_t y_bytes(std::uint64_t rank) const;

  /// Tiles, and bytes, that one rank sends another: those that stand in both its rows and the
  /// other's columns.
  std::uint64_t tiles_between(std::uint64_t from, std::uint64_t to) const;
  std::uint64_t bytes_between(std::uint64_t from, std::uint64_t to) const;
  /// What a rank sends all others, which is also what it receives.
  std::uint64_t tiles_exchanged(std::uint64_t rank) const;
  std::uint64_t bytes_exchanged(std::uint64_t rank) const;
};

/// From one row of a tile in y to the next, in elements.
UCXBENCH_HOST_DEVICE constexpr std::uint64_t row_stride(std::uint64_t columns) {
  return (columns + 7) / 8 * 8;
}

/// Memory traffic of y = x + xᵀ over a tile: x and t read, y written or only summed.
constexpr std::uint64_t bytes_touched(const Tile& tile, bool keep) {
  return tile.bytes() * (keep ? 3 : 2);
}

/// Tiles that a rank has room to receive at a time: a budget's worth, at least two, never more than
/// come; all that come if `all`.
std::uint64_t ring_slots(const Layout& layout, std::uint64_t rank, bool all);

/// Buffers of all ranks together.
std::uint64_t bytes_needed(const Layout& layout, bool keep, bool all_received);

}  // namespace ucxbench::transpose
