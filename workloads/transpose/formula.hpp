#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "harness/core/host_device.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench::transpose {

// The array as a function of its indices, so that any rank, and a GPU too, can say what any part of
// x or y must be. Elements are whole numbers, 1 to 1024: every sum over a row is exact, in
// whichever order.

UCXBENCH_HOST_DEVICE constexpr std::uint64_t element_at(std::uint64_t size, std::uint64_t i,
                                                        std::uint64_t j) {
  return 1 + (mix64(i * size + j) >> 54U);
}

// The weight of an element is the product of its row's and its column's. They differ, so that
// elements (i, j) and (j, i) do not weigh the same: y is symmetric, and with symmetric weights a
// tile that was not transposed would pass. A column's is small: a row's weighted sum stays below
// 2^53 up to 2^26 columns.
UCXBENCH_HOST_DEVICE constexpr std::uint64_t row_weight(std::uint64_t i) { return mix64(i) | 1U; }
UCXBENCH_HOST_DEVICE constexpr std::uint64_t column_weight(std::uint64_t j) {
  return 1 + (mix64(~j) >> 48U);
}

/// The largest n for which all that is said here holds.
inline constexpr std::uint64_t most_rows = std::uint64_t{1} << 26U;

/// An element, or a sum of them, as sums count it: what is no whole number by its bits.
UCXBENCH_HOST_DEVICE inline std::uint64_t word_of(double y) {
  const bool whole = std::fabs(y) < 0x1p62 && std::trunc(y) == y;
  if (whole) return static_cast<std::uint64_t>(static_cast<std::int64_t>(y));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &y, sizeof bits);
  return bits;
}

/// What the elements of a part of y add up to, modulo 2^64.
struct Checksum {
  std::uint64_t sum = 0;
  std::uint64_t weighted = 0;

  UCXBENCH_HOST_DEVICE void add_row(std::uint64_t row, std::uint64_t row_sum,
                                    std::uint64_t row_weighted_sum) {
    sum += row_sum;
    weighted += row_weight(row) * row_weighted_sum;
  }
  /// What one element has less.
  void take_away(std::uint64_t row, std::uint64_t column, std::uint64_t value) {
    sum -= value;
    weighted -= row_weight(row) * column_weight(column) * value;
  }
  bool operator==(const Checksum&) const = default;
};

}  // namespace ucxbench::transpose
