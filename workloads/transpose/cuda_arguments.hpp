#pragma once

#include <cstdint>

#include "harness/core/host_device.hpp"
#include "workloads/transpose/layout.hpp"

namespace ucxbench::transpose {

// What the kernels of cuda_kernels.cu take: one structure each, by value, which bears the kernel's
// name. Words that kernels add to begin at zero.

inline constexpr unsigned block_threads = 256;
/// Rows and columns of what a block adds at a time: a warp reads or writes one of its rows.
inline constexpr unsigned cuda_square_side = 32;

UCXBENCH_HOST_DEVICE constexpr unsigned cuda_squares_across(const Tile& tile) {
  return static_cast<unsigned>((tile.columns + cuda_square_side - 1) / cuda_square_side);
}
/// How many squares cover a tile: one of 2^31 would have 16 TiB.
UCXBENCH_HOST_DEVICE constexpr unsigned cuda_squares(const Tile& tile) {
  const auto down = static_cast<unsigned>((tile.rows + cuda_square_side - 1) / cuda_square_side);
  return down * cuda_squares_across(tile);
}

struct GenerateArguments {
  static constexpr const char* kernel = "transpose_generate";
  std::uint64_t size;
  Tile tile;
  double* x;
};

struct AddArguments {
  static constexpr const char* kernel = "transpose_add";
  Tile tile;
  const double *x, *t;
  double* y;
};

struct AddBothArguments {
  static constexpr const char* kernel = "transpose_add_both";
  Tile tile;
  const double *x, *t;  ///< the same for a tile with itself, as y and u are
  double *y, *u;
};

struct AddToSumArguments {
  static constexpr const char* kernel = "transpose_add_to_sum";
  Tile tile;
  const double *x, *t;
  std::uint64_t* sum;  ///< and behind it the weighted one
};

struct ChecksumArguments {
  static constexpr const char* kernel = "transpose_checksum";
  Tile tile;
  const double* y;
  std::uint64_t* sum;  ///< and behind it the weighted one
};

}  // namespace ucxbench::transpose
