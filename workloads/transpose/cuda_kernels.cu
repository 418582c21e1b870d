// The kernels of CudaKernels: device code only, compiled to a fat binary that is embedded in the
// program (ucxbench_cuda_image of cmake/Cuda.cmake).

#include <cub/block/block_reduce.cuh>

#include "workloads/common/cuda_device.cuh"
#include "workloads/transpose/cuda_arguments.hpp"
#include "workloads/transpose/formula.hpp"

namespace ucxbench::transpose {
namespace {

constexpr unsigned side = cuda_square_side;
constexpr unsigned rows_at_once = block_threads / side;
constexpr unsigned rows_each = side / rows_at_once;  // of a square, for each thread

/// A square of a tile, and this thread's elements in it: those of one column, `rows_at_once` apart.
struct Place {
  std::uint64_t first_row, first_column;

  __device__ Place transposed() const { return {first_column, first_row}; }
  __device__ std::uint64_t row(unsigned k) const { return first_row + line(k); }
  __device__ std::uint64_t column() const { return first_column + lane(); }
  __device__ bool inside(const Tile& tile, unsigned k) const {
    return row(k) < tile.rows && column() < tile.columns;
  }

  __device__ static unsigned line(unsigned k) { return threadIdx.x / side + k * rows_at_once; }
  __device__ static unsigned lane() { return threadIdx.x % side; }
};

__device__ Place place_of(const Tile& tile, unsigned square) {
  const auto across = cuda_squares_across(tile);
  return {std::uint64_t{square / across} * side, std::uint64_t{square % across} * side};
}

/// Where a square exchanges rows and columns. One element more in each row, so that those of a
/// column lie in different banks.
struct Scratch {
  double rows[side][side + 1];
};

__device__ void transpose(Scratch& scratch, double (&elements)[rows_each]) {
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) {
    scratch.rows[Place::line(k)][Place::lane()] = elements[k];
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) {
    elements[k] = scratch.rows[Place::lane()][Place::line(k)];
  }
}

/// A square of x + tᵀ: this thread's elements, 0 outside the tile. All of a thread's loads are
/// under way before it waits for one, and what is read only once leaves the caches first.
__device__ void add_square(const Tile& tile, const double* x, const double* t, const Place& place,
                           Scratch& scratch, double (&y)[rows_each]) {
  const auto t_tile = tile.transposed();
  const auto t_place = place.transposed();
  double of_t[rows_each];
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) {
    const auto* from_t = t + t_place.row(k) * t_tile.columns + t_place.column();
    const auto* from_x = x + place.row(k) * tile.columns + place.column();
    of_t[k] = t_place.inside(t_tile, k) ? __ldcs(from_t) : 0;
    y[k] = place.inside(tile, k) ? __ldcs(from_x) : 0;
  }
  transpose(scratch, of_t);
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) y[k] += of_t[k];
}

__device__ void store(const Tile& tile, const Place& place, const double (&elements)[rows_each],
                      double* y) {
  const auto stride = row_stride(tile.columns);
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) {
    if (place.inside(tile, k)) __stcs(y + place.row(k) * stride + place.column(), elements[k]);
  }
}

/// The sums of all threads are added to total[0] and total[1].
__device__ void add_from_block(const Checksum& own, std::uint64_t* total) {
  using Reduce = cub::BlockReduce<std::uint64_t, block_threads>;
  __shared__ typename Reduce::TempStorage of_sum;
  __shared__ typename Reduce::TempStorage of_weighted;
  const auto sum = Reduce(of_sum).Sum(own.sum);
  const auto weighted = Reduce(of_weighted).Sum(own.weighted);
  if (threadIdx.x != 0) return;
  atomicAdd(counter(total), sum);
  atomicAdd(counter(total + 1), weighted);
}

}  // namespace

UCXBENCH_KERNEL(transpose_generate, GenerateArguments) {
  for (auto row = std::uint64_t{blockIdx.x}; row < a.tile.rows; row += gridDim.x) {
    for (auto column = std::uint64_t{threadIdx.x}; column < a.tile.columns;
         column += block_threads) {
      a.x[row * a.tile.columns + column] = static_cast<double>(
          element_at(a.size, a.tile.first_row + row, a.tile.first_column + column));
    }
  }
}

UCXBENCH_KERNEL(transpose_add, AddArguments) {
  __shared__ Scratch scratch;
  const auto place = place_of(a.tile, blockIdx.x);
  double y[rows_each];
  add_square(a.tile, a.x, a.t, place, scratch, y);
  store(a.tile, place, y, a.y);
}

// u is yᵀ, so that x and t are read once for both.
UCXBENCH_KERNEL(transpose_add_both, AddBothArguments) {
  __shared__ Scratch scratch;
  const auto place = place_of(a.tile, blockIdx.x);
  // Of a tile with itself, the squares above the diagonal make those below it.
  if (a.x == a.t && place.first_row > place.first_column) return;
  double y[rows_each];
  add_square(a.tile, a.x, a.t, place, scratch, y);
  store(a.tile, place, y, a.y);
  __syncthreads();  // all have read what stands in the scratch
  transpose(scratch, y);
  store(a.tile.transposed(), place.transposed(), y, a.u);
}

// Modulo 2^64 it is all the same whether rows are summed first.
UCXBENCH_KERNEL(transpose_add_to_sum, AddToSumArguments) {
  __shared__ Scratch scratch;
  __shared__ std::uint64_t row_weights[side];
  __shared__ std::uint64_t column_weights[side];
  Checksum own;
  for (auto square = blockIdx.x; square < cuda_squares(a.tile); square += gridDim.x) {
    const auto place = place_of(a.tile, square);
    if (threadIdx.x < side) {
      row_weights[threadIdx.x] = row_weight(a.tile.first_row + place.first_row + threadIdx.x);
    } else if (threadIdx.x < 2 * side) {
      column_weights[Place::lane()] = column_weight(a.tile.first_column + place.column());
    }
    double y[rows_each];
    add_square(a.tile, a.x, a.t, place, scratch, y);
#pragma unroll
    for (unsigned k = 0; k < rows_each; ++k) {
      const auto word = word_of(y[k]);
      own.sum += word;
      own.weighted += row_weights[Place::line(k)] * (column_weights[Place::lane()] * word);
    }
    __syncthreads();  // the next square takes the same shared memory
  }
  add_from_block(own, a.sum);
}

UCXBENCH_KERNEL(transpose_checksum, ChecksumArguments) {
  Checksum own;
  for (auto row = std::uint64_t{blockIdx.x}; row < a.tile.rows; row += gridDim.x) {
    const auto* y = a.y + row * row_stride(a.tile.columns);
    std::uint64_t sum = 0;
    std::uint64_t weighted = 0;
    for (auto column = std::uint64_t{threadIdx.x}; column < a.tile.columns;
         column += block_threads) {
      const auto word = word_of(y[column]);
      sum += word;
      weighted += column_weight(a.tile.first_column + column) * word;
    }
    own.add_row(a.tile.first_row + row, sum, weighted);
  }
  add_from_block(own, a.sum);
}

}  // namespace ucxbench::transpose
