// The kernels of CudaKernels: device code only, compiled to a fat binary that is embedded in the
// program (ucxbench_cuda_image of cmake/Cuda.cmake).

#include "workloads/common/cuda_device.cuh"
#include "workloads/halo/cuda_arguments.hpp"
#include "workloads/halo/formula.hpp"

namespace ucxbench::halo {
namespace {

/// The threads of a block take the columns of its rows; blocks go on to other rows.
template <typename Use>
__device__ void for_elements(std::uint64_t rows, std::uint64_t columns, Use use) {
  for (auto row = std::uint64_t{blockIdx.x}; row < rows; row += gridDim.x) {
    for (auto column = std::uint64_t{threadIdx.x}; column < columns; column += block_threads) {
      use(row, column);
    }
  }
}

__device__ double* element(const Tile& tile, double* u, std::uint64_t row, std::uint64_t column) {
  return u + (row + 1) * tile.stride() + column + 1;
}
__device__ const double* element(const Tile& tile, const double* u, std::uint64_t row,
                                 std::uint64_t column) {
  return u + (row + 1) * tile.stride() + column + 1;
}

}  // namespace

UCXBENCH_KERNEL(halo_start, StartArguments) {
  for_elements(a.tile.stride(), a.tile.stride(), [&](std::uint64_t row, std::uint64_t column) {
    const bool inside = row > 0 && row <= a.tile.edge && column > 0 && column <= a.tile.edge;
    a.u[row * a.tile.stride() + column] =
        inside ? element_of(a.waves.at(row - 1, column - 1), 1) : no_number;
  });
}

UCXBENCH_KERNEL(halo_pack, PackArguments) {
  for (auto row = own_number(); row < a.tile.edge; row += all_threads()) {
    a.west[row] = *element(a.tile, a.u, row, 0);
    a.east[row] = *element(a.tile, a.u, row, a.tile.edge - 1);
  }
}

UCXBENCH_KERNEL(halo_unpack, UnpackArguments) {
  for (auto row = own_number(); row < a.tile.edge; row += all_threads()) {
    auto* first = element(a.tile, a.u, row, 0);
    first[-1] = a.west[row];
    first[a.tile.edge] = a.east[row];
  }
}

UCXBENCH_KERNEL(halo_step, StepArguments) {
  for_elements(a.rows, a.columns, [&](std::uint64_t row, std::uint64_t column) {
    const auto at = element(a.tile, a.v, a.first_row + row, a.first_column + column) - a.v;
    a.v[at] = stencil(a.u + at, a.tile.stride());
  });
}

UCXBENCH_KERNEL(halo_step_edges, StepEdgesArguments) {
  const auto last = a.tile.edge - 1;
  const auto step = [&](std::uint64_t row, std::uint64_t column) {
    const auto at = element(a.tile, a.v, row, column) - a.v;
    a.v[at] = stencil(a.u + at, a.tile.stride());
  };
  for (auto i = own_number(); i < a.tile.edge; i += all_threads()) {
    step(0, i);
    if (last == 0) continue;
    step(last, i);
    if (i == 0 || i == last) continue;
    step(i, 0);
    step(i, last);
  }
}

UCXBENCH_KERNEL(halo_wrong, WrongArguments) {
  for_elements(a.tile.edge, a.tile.edge, [&](std::uint64_t row, std::uint64_t column) {
    const auto right = element_of(a.expected.waves.at(row, column), a.expected.amplitude);
    const auto difference = *element(a.tile, a.u, row, column) - right;
    if (difference <= a.expected.tolerance && difference >= -a.expected.tolerance) return;
    atomicAdd(counter(a.found), 1);
  });
}

}  // namespace ucxbench::halo
