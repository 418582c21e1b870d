#pragma once

#include <cstdint>
#include <vector>

#include "workloads/svd/lapack.hpp"
#include "workloads/svd/matrix.hpp"

namespace ucxbench::svd {

/// What one rank computes. On the way up the tree of a TSQR (Demmel, Grigori, Hoemmen and Langou,
/// Communication-optimal Parallel and Sequential QR and LU Factorizations, SIAM J. Sci. Comput. 34,
/// 2012) its block becomes a factor R, which takes in one further R on each level. On the way down
/// (Benson, Gleich and Demmel, Direct QR Factorizations for Tall-and-Skinny Matrices in MapReduce
/// Architectures, 2013) left singular vectors of the last R become those of the block. R and C are
/// columns × columns, column by column.
class Factors {
 public:
  /// `block` and `vectors`: of shape.elements(), the caller's. `levels`: on which it combines.
  Factors(const Lapack& lapack, const Lapack::Shape& shape, int levels, double* block,
          double* vectors);

  /// Elements of a packed triangle, and of a whole square.
  static constexpr std::uint64_t packed(std::uint64_t columns) {
    return columns * (columns + 1) / 2;
  }
  static constexpr std::uint64_t square(std::uint64_t columns) { return columns * columns; }

  /// Makes the rows of the block, from `first_row` of the array on.
  void make(Matrix& matrix, std::uint64_t first_row);

  // Up: the block's R, packed column by column for who takes it in, and with another one.
  void factor();
  void pack(double* triangle) const;
  void combine(int level, const double* triangle);

  /// At the root: R = C diag(s) Vᵀ. All become no numbers where R has one that is none.
  void decompose();

  // Down: the C that a rank was given, its lower half for the rank of that level, and the block's
  // vectors.
  void take(const double* c);
  void split(int level, double* theirs);
  void apply();

  const std::vector<double>& values() const { return values_; }  ///< s
  const std::vector<double>& right() const { return right_; }    ///< Vᵀ, column by column
  const double* vectors() const { return vectors_; }

 private:
  struct Level {
    std::vector<double> lower, reflectors;
  };

  const Lapack& lapack_;
  Lapack::Shape shape_;
  double *block_, *vectors_;
  std::vector<double> reflectors_, work_, upper_, c_, values_, right_;
  std::vector<Level> levels_;
};

}  // namespace ucxbench::svd
