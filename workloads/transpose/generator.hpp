#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/core/pattern.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

// The array as a function of its indices, so that any rank can say what any part of x or y must be.
// Elements are whole numbers, 1 to 1024: every sum over a row is exact, in whichever order.

constexpr std::uint64_t element_at(std::uint64_t size, std::uint64_t i, std::uint64_t j) {
  return 1 + (mix64(i * size + j) >> 54U);
}

// The weight of an element is the product of its row's and its column's. They differ, so that
// elements (i, j) and (j, i) do not weigh the same: y is symmetric, and with symmetric weights a
// tile that was not transposed would pass. A column's is small: a row's weighted sum stays below
// 2^53 up to 2^26 columns.
constexpr std::uint64_t row_weight(std::uint64_t i) { return mix64(i) | 1U; }
constexpr std::uint64_t column_weight(std::uint64_t j) { return 1 + (mix64(~j) >> 48U); }

/// The largest n for which all that is said here holds.
inline constexpr std::uint64_t most_rows = std::uint64_t{1} << 26U;

/// What the elements of a part of y add up to, modulo 2^64.
struct Checksum {
  std::uint64_t sum = 0;
  std::uint64_t weighted = 0;

  void add_row(std::uint64_t row, std::uint64_t row_sum, std::uint64_t row_weighted_sum) {
    sum += row_sum;
    weighted += row_weight(row) * row_weighted_sum;
  }
  bool operator==(const Checksum&) const = default;
};

/// Of a tile of y. Calls `progress` now and then.
Checksum expected(std::uint64_t size, const Tile& tile, const std::function<void()>& progress);

/// The plain sum of a tile of x.
std::uint64_t sum_of_x(std::uint64_t size, const Tile& tile);

}  // namespace ucxbench::transpose
