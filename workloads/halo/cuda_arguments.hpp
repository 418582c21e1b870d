#pragma once

#include <cstdint>

#include "workloads/halo/kernels.hpp"

namespace ucxbench::halo {

// What the kernels of cuda_kernels.cu take: one structure each, by value, which bears the kernel's
// name.

inline constexpr unsigned block_threads = 256;

struct StartArguments {
  static constexpr const char* kernel = "halo_start";
  Tile tile;
  Waves waves;
  double* u;
};

struct PackArguments {
  static constexpr const char* kernel = "halo_pack";
  Tile tile;
  const double* u;
  double *west, *east;
};

struct UnpackArguments {
  static constexpr const char* kernel = "halo_unpack";
  Tile tile;
  const double *west, *east;
  double* u;
};

/// A block of rows and columns of the tile.
struct StepArguments {
  static constexpr const char* kernel = "halo_step";
  Tile tile;
  const double* u;
  double* v;
  std::uint64_t first_row, rows, first_column, columns;
};

/// The four edges.
struct StepEdgesArguments {
  static constexpr const char* kernel = "halo_step_edges";
  Tile tile;
  const double* u;
  double* v;
};

struct WrongArguments {
  static constexpr const char* kernel = "halo_wrong";
  Tile tile;
  const double* u;
  Expected expected;
  std::uint64_t* found;  ///< their count; begins at 0
};

}  // namespace ucxbench::halo
