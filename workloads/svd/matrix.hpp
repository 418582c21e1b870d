#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace ucxbench::svd {

/// An array whose singular value decomposition X = U S Vᵀ is known in closed form, of which each
/// rank makes its rows alone.
///   - Column j of U is a cosine of the discrete cosine transform (DCT-II): √(2/rows)
///     cos(π(2i + 1)j / (2 rows)), for j = 0 √(1/rows). They are orthonormal.
///   - The singular values are 2 - j/columns: from 2 down to above 1, equally far apart.
///   - V = I - (2/columns)·11ᵀ, a reflection.
class Matrix {
 public:
  Matrix(std::uint64_t rows, std::uint64_t columns);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }

  double singular_value(std::uint64_t j) const {
    return 2 - static_cast<double>(j) / static_cast<double>(columns_);
  }
  /// Of V, which is symmetric.
  double right(std::uint64_t i, std::uint64_t j) const {
    return (i == j ? 1.0 : 0.0) - 2 / static_cast<double>(columns_);
  }
  /// Row i becomes that which was so many rows further on, or from the first one again. The closed
  /// form stays, while every block of rows and what is made of it becomes another one.
  void rotate(std::uint64_t rows) { first_row_ = rows % rows_; }

  /// Row i of U, and of X.
  void left_row(std::uint64_t i, double* row);
  void row(std::uint64_t i, double* row);

  /// How far a singular value may be from the closed form when `depth` levels of a tree have made
  /// it from blocks of `block_rows`. A Householder QR of m × n makes a relative backward error, in
  /// the Frobenius norm, of the order of √(mn) u with high probability (Connolly and Higham,
  /// Probabilistic Rounding Error Analysis of Householder QR Factorization, SIAM J. Matrix Anal.
  /// Appl. 44, 2023; u = 2^-53), and each level one of 2n × n. Singular values move by no more
  /// than the backward error does (Weyl), and the norm of X is at most √columns·2. The factor 10
  /// is for the constant, and one more term for the rounding of the elements.
  double tolerance(std::uint64_t block_rows, int depth) const;

  /// The same of a singular vector, the norm of its error: the backward error by the distance of
  /// the singular values, 1/columns, and √2 each for both vectors and from sine to distance
  /// (Wedin).
  double vector_tolerance(std::uint64_t block_rows, int depth) const {
    return 2 * static_cast<double>(columns_) * tolerance(block_rows, depth);
  }

 private:
  std::uint64_t rows_, columns_;
  std::uint64_t first_row_ = 0;
  // Of one row: e^(i angle) of the first few columns, and of each so many-th one.
  std::vector<double> near_cos_, near_sin_, far_cos_, far_sin_;
};

}  // namespace ucxbench::svd
