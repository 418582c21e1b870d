#pragma once

#include <cstdint>
#include <limits>

#include "harness/core/host_device.hpp"

namespace ucxbench::halo {

/// What stands where nothing has been written: it makes no number of everything that uses it.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// A tile with `edge` rows and columns, and around them one more on each side for what the
/// neighbours have there: (edge + 2)² elements, row by row.
struct Tile {
  std::uint64_t edge = 0;

  UCXBENCH_HOST_DEVICE std::uint64_t stride() const { return edge + 2; }
  UCXBENCH_HOST_DEVICE std::uint64_t elements() const { return stride() * stride(); }
  /// Of an element of the tile, counted from 0; -1 and `edge` are the neighbours'.
  UCXBENCH_HOST_DEVICE std::uint64_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::uint64_t>(row + 1) * stride() + static_cast<std::uint64_t>(column + 1);
  }
};

/// The five-point stencil: every element becomes the mean of itself and its four neighbours.
UCXBENCH_HOST_DEVICE inline double stencil(const double* u, std::uint64_t stride) {
  return (((*(u - stride) + *(u + stride)) + (*(u - 1) + *(u + 1))) + *u) * 0.2;
}

/// Cosines and sines of a tile's rows and columns, `edge` each, one behind the other: of
/// 2 π i / rows of the domain, and of 2 π j / its columns.
struct Waves {
  const double *row_cos = nullptr, *row_sin = nullptr, *column_cos = nullptr, *column_sin = nullptr;

  static constexpr std::uint64_t count(std::uint64_t edge) { return 4 * edge; }
  UCXBENCH_HOST_DEVICE static Waves in(const double* table, std::uint64_t edge) {
    return {table, table + edge, table + 2 * edge, table + 3 * edge};
  }

  /// cos(2 π (i / rows + j / columns)) of the element in row i and column j of the domain: a wave
  /// that the stencil only makes smaller, by `decay` in each step.
  UCXBENCH_HOST_DEVICE double at(std::uint64_t row, std::uint64_t column) const {
    return row_cos[row] * column_cos[column] - row_sin[row] * column_sin[column];
  }
};

/// An element after some steps, where the wave's `amplitude` is left. The constant, which the
/// stencil does not change, keeps all elements away from zero, so that a wrong sign shows.
UCXBENCH_HOST_DEVICE inline double element_of(double wave, double amplitude) {
  return 2 + amplitude * wave;
}

/// What one step leaves of the wave's amplitude in a domain of so many rows and columns.
double decay(std::uint64_t rows, std::uint64_t columns);

/// How far an element may be from the closed form after so many steps. One step's five additions
/// and multiplication of numbers below 3 round by at most 2e-15 (each by half an ulp), which later
/// steps do not make larger, since their weights add up to 1; five times that, and as much for the
/// closed form itself.
constexpr double tolerance(std::uint64_t steps) { return 1e-14 * static_cast<double>(steps + 1); }

}  // namespace ucxbench::halo
