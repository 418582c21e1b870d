#include "workloads/svd/factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "workloads/svd/tree.hpp"

namespace ucxbench::svd {
namespace {

const Lapack* lapack_or_null() {
  try {
    return &Lapack::get();
  } catch (const Failure&) {
    return nullptr;
  }
}

struct Rank {
  Rank(const Lapack& lapack, const Lapack::Shape& shape, const Tree& of)
      : tree(of),
        block(shape.elements()),
        vectors(shape.elements()),
        factors(lapack, shape, static_cast<int>(of.children.size()), block.data(), vectors.data()) {
  }

  Tree tree;
  std::vector<double> block, vectors;
  Factors factors;
};

struct Load {
  int ranks;
  std::uint64_t rows, columns;
};

/// All ranks of a tree in one process.
class Ranks : public testing::TestWithParam<Load> {
 protected:
  void SetUp() override {
    const auto* lapack = lapack_or_null();
    if (lapack == nullptr) GTEST_SKIP() << "no LAPACK";
    shape_ = Lapack::Shape::of(rows(), columns());
    for (int rank = 0; rank < GetParam().ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(*lapack, shape_, Tree::of(rank, GetParam().ranks)));
      factors(rank).make(matrix_, static_cast<std::uint64_t>(rank) * rows());
    }
  }

  std::uint64_t rows() const { return GetParam().rows; }
  std::uint64_t columns() const { return GetParam().columns; }
  Rank& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  Factors& factors(int rank) { return at(rank).factors; }
  int depth() { return at(0).tree.depth; }

  void climb(int rank) {
    factors(rank).factor();
    for (std::size_t child = 0; child < at(rank).tree.children.size(); ++child) {
      const auto from = at(rank).tree.children[child].rank;
      climb(from);
      std::vector<double> triangle(Factors::packed(columns()));
      factors(from).pack(triangle.data());
      factors(rank).combine(static_cast<int>(child), triangle.data());
    }
  }
  void descend(int rank) {
    for (auto child = at(rank).tree.children.size(); child-- > 0;) {
      std::vector<double> c(Factors::square(columns()), -5);
      factors(rank).split(static_cast<int>(child), c.data());
      const auto to = at(rank).tree.children[child].rank;
      factors(to).take(c.data());
      descend(to);
    }
    factors(rank).apply();
  }

  Matrix matrix_{static_cast<std::uint64_t>(GetParam().ranks) * GetParam().rows,
                 GetParam().columns};
  Lapack::Shape shape_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_P(Ranks, FindTheClosedForm) {
  climb(0);
  factors(0).decompose();
  descend(0);
  const auto tolerance = matrix_.tolerance(rows(), depth());
  const auto of_vectors = matrix_.vector_tolerance(rows(), depth());
  std::vector<double> expected(columns());
  for (std::uint64_t j = 0; j < columns(); ++j) {
    EXPECT_NEAR(factors(0).values()[j], matrix_.singular_value(j), tolerance);
    double product = 0;
    for (std::uint64_t i = 0; i < columns(); ++i) {
      product += factors(0).right()[i * columns() + j] * matrix_.right(i, j);
    }
    const double sign = product < 0 ? -1 : 1;
    EXPECT_NEAR(sign * product, 1, of_vectors);
    for (int rank = 0; rank < GetParam().ranks; ++rank) {
      for (std::uint64_t i = 0; i < rows(); ++i) {
        matrix_.left_row(static_cast<std::uint64_t>(rank) * rows() + i, expected.data());
        EXPECT_NEAR(sign * at(rank).vectors[j * shape_.stride + i], expected[j], of_vectors);
      }
    }
  }
}

// That of LAPACK for the whole array at once.
class SmallRanks : public Ranks {};

TEST_P(SmallRanks, HaveTheSingularValuesOfTheWhole) {
  const auto* lapack = lapack_or_null();
  const auto all = matrix_.rows();
  std::vector<double> square(all * all);
  std::vector<double> row(columns());
  for (std::uint64_t i = 0; i < all; ++i) {
    matrix_.row(i, row.data());
    for (std::uint64_t j = 0; j < columns(); ++j) square[j * all + i] = row[j];
  }
  std::vector<double> values(all);
  std::vector<double> u(all * all);
  std::vector<double> vt(all * all);
  lapack->svd(all, square.data(), values.data(), u.data(), vt.data());
  climb(0);
  factors(0).decompose();
  for (std::uint64_t j = 0; j < columns(); ++j) {
    EXPECT_NEAR(factors(0).values()[j], values[j], matrix_.tolerance(rows(), depth()));
  }
}

INSTANTIATE_TEST_SUITE_P(Loads, SmallRanks,
                         testing::Values(Load{1, 5, 5}, Load{2, 9, 4}, Load{3, 50, 7}));

// Blocks of one part of rows, of several, of a part that is not whole; more columns than LAPACK
// takes at once.
INSTANTIATE_TEST_SUITE_P(Loads, Ranks,
                         testing::Values(Load{1, 2, 2}, Load{1, 5, 5}, Load{2, 9, 4},
                                         Load{3, 50, 7}, Load{5, 33, 16}, Load{2, 2100, 16},
                                         Load{4, 700, 70}),
                         [](const auto& load) {
                           return std::to_string(load.param.ranks) + "_ranks_" +
                                  std::to_string(load.param.rows) + "x" +
                                  std::to_string(load.param.columns);
                         });

/// The first of two ranks, whose factor is combined with what `change` makes of the other's.
std::vector<double> values_after(const Lapack& lapack,
                                 const std::function<void(std::vector<double>&)>& change) {
  const auto shape = Lapack::Shape::of(50, 7);
  Matrix matrix(100, 7);
  Rank first(lapack, shape, Tree::of(0, 2));
  Rank second(lapack, shape, Tree::of(1, 2));
  first.factors.make(matrix, 0);
  first.factors.factor();
  second.factors.make(matrix, 50);
  second.factors.factor();
  std::vector<double> triangle(Factors::packed(7));
  second.factors.pack(triangle.data());
  change(triangle);
  first.factors.combine(0, triangle.data());
  first.factors.decompose();
  return first.factors.values();
}

TEST(Mistakes, MoveSingularValues) {
  const auto* lapack = lapack_or_null();
  if (lapack == nullptr) GTEST_SKIP() << "no LAPACK";
  const auto tolerance = Matrix(100, 7).tolerance(50, 1);
  const auto right = values_after(*lapack, [](auto&) {});
  const auto wrong_sign = values_after(*lapack, [](auto& triangle) { triangle[0] *= -1; });
  const auto lost = values_after(*lapack, [](auto& triangle) { std::ranges::fill(triangle, 0); });
  EXPECT_NEAR(right[0], 2, tolerance);
  EXPECT_GT(std::abs(wrong_sign[0] - 2), 1000 * tolerance);
  EXPECT_GT(std::abs(lost[0] - 2), 1000 * tolerance);
}

TEST(Mistakes, OfNoNumberEnd) {
  const auto* lapack = lapack_or_null();
  if (lapack == nullptr) GTEST_SKIP() << "no LAPACK";
  const auto values = values_after(*lapack, [](auto& triangle) { triangle[3] = std::nan(""); });
  for (const auto value : values) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace ucxbench::svd
