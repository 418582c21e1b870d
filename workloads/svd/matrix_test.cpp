#include "workloads/svd/matrix.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <vector>

namespace ucxbench::svd {
namespace {

struct Shape {
  std::uint64_t rows, columns;
};

class Closed : public testing::TestWithParam<Shape> {
 protected:
  std::uint64_t rows() const { return GetParam().rows; }
  std::uint64_t columns() const { return GetParam().columns; }

  std::vector<double> left() {
    std::vector<double> all(rows() * columns());
    for (std::uint64_t i = 0; i < rows(); ++i) matrix_.left_row(i, all.data() + i * columns());
    return all;
  }

  Matrix matrix_{GetParam().rows, GetParam().columns};
};

TEST_P(Closed, LeftVectorsAreCosines) {
  const auto all = left();
  for (std::uint64_t i = 0; i < rows(); ++i) {
    for (std::uint64_t j = 0; j < columns(); ++j) {
      const auto angle = std::numbers::pi * static_cast<double>((2 * i + 1) * j) /
                         (2 * static_cast<double>(rows()));
      const auto scale = std::sqrt((j == 0 ? 1 : 2) / static_cast<double>(rows()));
      // The angle itself is up to π·columns, and rounded.
      EXPECT_NEAR(all[i * columns() + j], scale * std::cos(angle), scale * 4e-16 * (4 + angle))
          << i << " " << j;
    }
  }
}

TEST_P(Closed, VectorsAreOrthonormal) {
  const auto all = left();
  for (std::uint64_t j = 0; j < columns(); ++j) {
    for (std::uint64_t k = 0; k < columns(); ++k) {
      double of_left = 0;
      double of_right = 0;
      for (std::uint64_t i = 0; i < rows(); ++i) {
        of_left += all[i * columns() + j] * all[i * columns() + k];
      }
      for (std::uint64_t i = 0; i < columns(); ++i) {
        of_right += matrix_.right(i, j) * matrix_.right(i, k);
      }
      EXPECT_NEAR(of_left, j == k ? 1 : 0, 1e-14) << j << " " << k;
      EXPECT_NEAR(of_right, j == k ? 1 : 0, 1e-14) << j << " " << k;
    }
  }
}

TEST_P(Closed, RowsAreTheProduct) {
  const auto all = left();
  std::vector<double> row(columns());
  for (std::uint64_t i = 0; i < rows(); ++i) {
    matrix_.row(i, row.data());
    for (std::uint64_t j = 0; j < columns(); ++j) {
      double sum = 0;
      for (std::uint64_t k = 0; k < columns(); ++k) {
        sum += all[i * columns() + k] * matrix_.singular_value(k) * matrix_.right(j, k);
      }
      EXPECT_NEAR(row[j], sum, 1e-14);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Closed,
                         testing::Values(Shape{2, 2}, Shape{17, 3}, Shape{40, 40}, Shape{101, 37}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.rows) + "x" +
                                  std::to_string(shape.param.columns);
                         });

TEST(Closed, SingularValuesAreFarApart) {
  const Matrix matrix(100, 10);
  EXPECT_EQ(matrix.singular_value(0), 2);
  for (std::uint64_t j = 1; j < 10; ++j) {
    EXPECT_NEAR(matrix.singular_value(j - 1) - matrix.singular_value(j), 0.1, 1e-15);
  }
  EXPECT_GT(matrix.singular_value(9), 1);
}

}  // namespace
}  // namespace ucxbench::svd
