#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "workloads/svd/lapack.hpp"
#include "workloads/svd/matrix.hpp"

namespace ucxbench::svd {

/// What one rank computes, on the host or on a GPU. On the way up the tree of a TSQR (Demmel,
/// Grigori, Hoemmen and Langou, Communication-optimal Parallel and Sequential QR and LU
/// Factorizations, SIAM J. Sci. Comput. 34, 2012) its block becomes a factor R, which takes in one
/// further R on each level. On the way down (Benson, Gleich and Demmel, Direct QR Factorizations
/// for Tall-and-Skinny Matrices in MapReduce Architectures, 2013) left singular vectors of the last
/// R become those of the block. R and C are columns × columns, column by column. A call returns
/// when its work is done.
class Factors {
 public:
  /// Of a rank's rows. `block` and `vectors`, of shape.elements(), are the caller's, in memory that
  /// the factors can work on, as are triangles and each C below. `levels`: on which it combines.
  struct Place {
    Lapack::Shape shape;
    int levels = 0;
    double *block = nullptr, *vectors = nullptr;
  };

  virtual ~Factors() = default;

  /// Elements of a packed triangle, and of a whole square.
  static constexpr std::uint64_t packed(std::uint64_t columns) {
    return columns * (columns + 1) / 2;
  }
  static constexpr std::uint64_t square(std::uint64_t columns) { return columns * columns; }

  /// Makes the rows of the block, from `first_row` of the array on.
  virtual void make(Matrix& matrix, std::uint64_t first_row) = 0;

  // Up: the block's R, packed column by column for who takes it in, and with another one.
  virtual void factor() = 0;
  virtual void pack(double* triangle) = 0;
  virtual void combine(int level, const double* triangle) = 0;

  /// At the root: R = C diag(s) Vᵀ. All become no numbers where R has one that is none.
  virtual void decompose() = 0;

  // Down: the C that a rank was given, its lower half for the rank of that level, and the block's
  // vectors.
  virtual void take(const double* c) = 0;
  virtual void split(int level, double* theirs) = 0;
  virtual void apply() = 0;

  // For checking, outside the clock, in host memory.
  virtual const std::vector<double>& values() const = 0;  ///< s
  virtual const std::vector<double>& right() const = 0;   ///< Vᵀ, column by column
  virtual const double* vectors() = 0;                    ///< of the block's shape
};

/// Of all factors: makes a block in host memory, and looks for what is no number.
void fill_block(Matrix& matrix, std::uint64_t first_row, const Lapack::Shape& shape, double* block);
bool all_finite(std::span<const double> numbers);

std::unique_ptr<Factors> make_host_factors(const Lapack& lapack, const Factors::Place& place);
/// On the GPU of the current context, by cuSOLVER; calls `progress` while it waits for the GPU.
/// Throws Failure(Exit::cannot_run).
std::unique_ptr<Factors> make_cuda_factors(const Factors::Place& place,
                                           std::function<void()> progress);

}  // namespace ucxbench::svd
