#pragma once

#include <array>
#include <cstdint>

namespace ucxbench::transpose {

// The work on a square of a tile: its part of t is transposed into a scratch square that stays in
// the first-level cache, and from there added row by row, as a streaming loop would. Adding out of
// registers instead touches a single line of each row of x and y at a time, which memory does at
// half the speed.

/// Rows and columns of a square, and from one row of the scratch to the next: an odd number of
/// lines, so that a column of it does not meet in one set of the cache.
inline constexpr std::uint64_t square_side = 64;
inline constexpr std::uint64_t square_stride = square_side + 8;

struct alignas(64) Square {
  std::array<double, square_side * square_stride> elements;
};

/// Sums along a row of y, lane by lane: of its elements, and of their products with the weights of
/// their columns.
struct alignas(64) RowSums {
  std::array<double, 8> plain{};
  std::array<double, 8> weighted{};
};

/// What a processor does with a square of `rows` × `columns` elements of y, or a row of it. All at
/// once, so that memory is busy with the next rows while one is added.
struct SquareCode {
  /// out(a, b) = t[b * t_stride + a]
  void (*transpose)(const double* t, std::uint64_t t_stride, std::uint64_t rows,
                    std::uint64_t columns, Square& out);
  /// y = x + t. Rows of y begin at a cache line and are written past the caches, up to the end of
  /// a line also over what stands behind the last element.
  void (*add)(const double* x, std::uint64_t x_stride, const Square& t, std::uint64_t rows,
              std::uint64_t columns, double* y, std::uint64_t y_stride);
  /// The same, and t becomes y.
  void (*add_keeping)(const double* x, std::uint64_t x_stride, Square& t, std::uint64_t rows,
                      std::uint64_t columns, double* y, std::uint64_t y_stride);
  /// u[b * u_stride + a] = in(a, b), written as y is.
  void (*store_transposed)(const Square& in, std::uint64_t rows, std::uint64_t columns, double* u,
                           std::uint64_t u_stride);
  /// Adds y = x + t to the sums of its rows.
  void (*sum)(const double* x, std::uint64_t x_stride, const Square& t, const double* weights,
              std::uint64_t rows, std::uint64_t columns, RowSums* sums);
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
