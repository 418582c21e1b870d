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

/// A square of t, read by rows and used by columns. One element more in each row, so that those of
/// a column lie in different banks.
struct Square {
  double rows[side][side + 1];
};

/// This thread's place in a square of a tile: one column, and rows `rows_at_once` apart.
class Place {
 public:
  __device__ Place(const Tile& tile, unsigned square)
      : first_row_(std::uint64_t{square / cuda_squares_across(tile)} * side),
        first_column_(std::uint64_t{square % cuda_squares_across(tile)} * side) {}

  /// Of the square.
  __device__ std::uint64_t first_row() const { return first_row_; }
  __device__ std::uint64_t first_column() const { return first_column_; }
  /// In the square, of this thread's k-th element.
  __device__ static unsigned line(unsigned k) { return threadIdx.x / side + k * rows_at_once; }
  __device__ static unsigned lane() { return threadIdx.x % side; }
  /// In the tile.
  __device__ std::uint64_t row(unsigned k) const { return first_row_ + line(k); }
  __device__ std::uint64_t column() const { return first_column_ + lane(); }
  __device__ bool inside(const Tile& tile, unsigned k) const {
    return row(k) < tile.rows && column() < tile.columns;
  }

 private:
  std::uint64_t first_row_, first_column_;
};

/// A square of x + tᵀ: this thread's elements, 0 outside the tile. All of a thread's loads are
/// under way before it waits for one, and what is read only once leaves the caches first.
__device__ void add_square(const Tile& tile, const double* x, const double* t, const Place& place,
                           Square& scratch, double (&y)[rows_each]) {
  const auto t_column = place.first_row() + Place::lane();
  double of_t[rows_each];
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) {
    const auto t_row = place.first_column() + Place::line(k);
    const bool there = t_row < tile.columns && t_column < tile.rows;
    of_t[k] = there ? __ldcs(t + t_row * tile.rows + t_column) : 0;
    y[k] = place.inside(tile, k) ? __ldcs(x + place.row(k) * tile.columns + place.column()) : 0;
  }
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) scratch.rows[Place::line(k)][Place::lane()] = of_t[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) y[k] += scratch.rows[Place::lane()][Place::line(k)];
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
  __shared__ Square scratch;
  const Place place(a.tile, blockIdx.x);
  double y[rows_each];
  add_square(a.tile, a.x, a.t, place, scratch, y);
  const auto stride = row_stride(a.tile.columns);
#pragma unroll
  for (unsigned k = 0; k < rows_each; ++k) {
    if (place.inside(a.tile, k)) __stcs(a.y + place.row(k) * stride + place.column(), y[k]);
  }
}

// Modulo 2^64 it is all the same whether rows are summed first.
UCXBENCH_KERNEL(transpose_add_to_sum, AddToSumArguments) {
  __shared__ Square scratch;
  __shared__ std::uint64_t row_weights[side];
  __shared__ std::uint64_t column_weights[side];
  Checksum own;
  for (auto square = blockIdx.x; square < cuda_squares(a.tile); square += gridDim.x) {
    const Place place(a.tile, square);
    if (threadIdx.x < side) {
      row_weights[threadIdx.x] = row_weight(a.tile.first_row + place.first_row() + threadIdx.x);
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
