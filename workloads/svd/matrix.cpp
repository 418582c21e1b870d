#include "workloads/svd/matrix.hpp"

#include <numbers>

namespace ucxbench::svd {
namespace {

constexpr std::uint64_t near = 16;  // columns whose angles are computed one by one

}  // namespace

Matrix::Matrix(std::uint64_t rows, std::uint64_t columns)
    : rows_(rows),
      columns_(columns),
      near_cos_(near),
      near_sin_(near),
      far_cos_((columns + near - 1) / near),
      far_sin_(far_cos_.size()) {}

// Sums of two angles instead of a cosine for each element. A recurrence from column to column would
// lose digits.
void Matrix::left_row(std::uint64_t number, double* row) {
  const auto i = (number + first_row_) % rows_;
  const auto around = 4 * rows_;
  const auto angle = [&](std::uint64_t j) {
    return std::numbers::pi * static_cast<double>((2 * i + 1) * j % around) /
           (2 * static_cast<double>(rows_));
  };
  for (std::uint64_t j = 0; j < near; ++j) {
    near_cos_[j] = std::cos(angle(j));
    near_sin_[j] = std::sin(angle(j));
  }
  const auto scale = std::sqrt(2 / static_cast<double>(rows_));
  for (std::uint64_t far = 0; far < far_cos_.size(); ++far) {
    far_cos_[far] = scale * std::cos(angle(far * near));
    far_sin_[far] = scale * std::sin(angle(far * near));
  }
  for (std::uint64_t j = 0; j < columns_; ++j) {
    row[j] = far_cos_[j / near] * near_cos_[j % near] - far_sin_[j / near] * near_sin_[j % near];
  }
  row[0] = std::sqrt(1 / static_cast<double>(rows_));
}

void Matrix::row(std::uint64_t i, double* row) {
  left_row(i, row);
  double sum = 0;
  for (std::uint64_t j = 0; j < columns_; ++j) {
    row[j] *= singular_value(j);
    sum += row[j];
  }
  sum *= 2 / static_cast<double>(columns_);
  for (std::uint64_t j = 0; j < columns_; ++j) row[j] -= sum;
}

double Matrix::tolerance(std::uint64_t block_rows, int depth) const {
  const auto n = static_cast<double>(columns_);
  const auto block = std::sqrt(static_cast<double>(block_rows) * n);
  const auto levels = depth * std::numbers::sqrt2 * n;
  constexpr double u = 0x1p-53;
  return 10 * u * (block + levels + 10) * std::sqrt(n) * singular_value(0);
}

}  // namespace ucxbench::svd
