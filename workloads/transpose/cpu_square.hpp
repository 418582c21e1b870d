#pragma once

#include <array>
#include <cstdint>

namespace ucxbench::transpose {

// The work on a piece of a tile: its part of t is transposed into a scratch piece that stays in
// cache, and from there added row by row, as a streaming loop would. Adding out of registers
// instead touches a single line of each row of x and y at a time, which memory does at half the
// speed.

template <std::uint64_t most_rows, std::uint64_t most_columns>
struct alignas(64) Scratch {
  static constexpr std::uint64_t rows = most_rows, columns = most_columns;
  /// From one row to the next: an odd number of lines, so that a column does not meet in one set of
  /// the cache.
  static constexpr std::uint64_t stride = columns + 8;
  std::array<double, rows * stride> elements;
};
/// Of two tiles that are both here.
using Square = Scratch<64, 64>;
/// Of a tile that is added alone: its rows of x and y are long, so that their pages change seldom.
using Strip = Scratch<32, 256>;

/// Where the next strip's x and t begin: they are fetched into the second-level cache while this
/// one is added, since no hardware prefetcher foresees rows that are a page apart. They may be past
/// the end.
struct NextStrip {
  const double *x, *t;
  std::uint64_t t_stride;
};

/// Sums along a row of y, lane by lane: of its elements, and of their products with the weights of
/// their columns.
struct alignas(64) RowSums {
  std::array<double, 8> plain{};
  std::array<double, 8> weighted{};
};

/// What a processor does with a strip or a square of `rows` × `columns` elements of y, or a row of
/// it.
struct SquareCode {
  /// out(a, b) = t[b * t_stride + a]
  void (*transpose_strip)(const double* t, std::uint64_t t_stride, std::uint64_t rows,
                          std::uint64_t columns, Strip& out);
  void (*transpose_square)(const double* t, std::uint64_t t_stride, std::uint64_t rows,
                           std::uint64_t columns, Square& out);
  /// y = x + t. Rows of y begin at a cache line and are written past the caches, up to the end of
  /// a line also over what stands behind the last element.
  void (*add)(const double* x, std::uint64_t x_stride, const Strip& t, std::uint64_t rows,
              std::uint64_t columns, double* y, std::uint64_t y_stride, const NextStrip& next);
  /// The same, and t becomes y.
  void (*add_keeping)(const double* x, std::uint64_t x_stride, Square& t, std::uint64_t rows,
                      std::uint64_t columns, double* y, std::uint64_t y_stride);
  /// u[b * u_stride + a] = in(a, b), written as y is.
  void (*store_transposed)(const Square& in, std::uint64_t rows, std::uint64_t columns, double* u,
                           std::uint64_t u_stride);
  /// Adds y = x + t to the sums of its rows.
  void (*sum)(const double* x, std::uint64_t x_stride, const Strip& t, const double* weights,
              std::uint64_t rows, std::uint64_t columns, RowSums* sums, const NextStrip& next);
  /// After the last row: all stores have been done.
  void (*finish)();
};

/// In C++ alone, without stores past the caches: for every processor.
SquareCode plain_code();
/// Only where has_avx2().
SquareCode avx2_code();
/// Only where has_avx512().
SquareCode avx512_code();

}  // namespace ucxbench::transpose
