#include "workloads/svd/factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/memory/cuda_driver.hpp"
#include "workloads/svd/cusolver.hpp"
#include "workloads/svd/tree.hpp"

namespace ucxbench::svd {
namespace {

/// Why there are no factors in memory of this kind here; what can be none is a mistake where the
/// test brings a driver of its own.
std::string why_none(const MemoryKind& kind) {
  try {
    if (on_gpu(kind)) {
      static const CudaContext context(0);
      context.make_current();
      Cusolver::get();
    } else {
      Lapack::get();
    }
    return "";
  } catch (const Failure& failure) {
    EXPECT_FALSE(on_gpu(kind) && std::getenv("CUDA_EMULATOR") != nullptr) << failure.what();
    return failure.what();
  }
}

/// Numbers in memory of a kind, all -5.
class Numbers {
 public:
  Numbers(const MemoryKind& kind, std::uint64_t count) : buffer_(kind, count * sizeof(double)) {
    write(std::vector<double>(count, -5));
  }
  double* data() { return reinterpret_cast<double*>(buffer_.data()); }
  void write(const std::vector<double>& numbers) {
    copy_bytes(buffer_.kind(), data(), numbers.data(), buffer_.size());
  }
  std::vector<double> read() {
    std::vector<double> numbers(buffer_.size() / sizeof(double));
    copy_bytes(buffer_.kind(), numbers.data(), data(), buffer_.size());
    return numbers;
  }

 private:
  Buffer buffer_;
};

struct Rank {
  Rank(const MemoryKind& kind, const Lapack::Shape& shape, const Tree& of)
      : tree(of), block(kind, shape.elements()), vectors(kind, shape.elements()) {
    const Factors::Place place{.shape = shape,
                               .levels = static_cast<int>(of.children.size()),
                               .block = block.data(),
                               .vectors = vectors.data()};
    factors =
        on_gpu(kind) ? make_cuda_factors(place, [] {}) : make_host_factors(Lapack::get(), place);
  }

  Tree tree;
  Numbers block, vectors;
  std::unique_ptr<Factors> factors;
};

struct Load {
  int ranks;
  std::uint64_t rows, columns;
  MemoryKind memory = MemoryKind::host;
};

/// All ranks of a tree in one process.
class Ranks : public testing::TestWithParam<Load> {
 protected:
  void SetUp() override {
    if (const auto why = why_none(GetParam().memory); !why.empty()) GTEST_SKIP() << why;
    shape_ = Lapack::Shape::of(rows(), columns());
    for (int rank = 0; rank < GetParam().ranks; ++rank) {
      ranks_.push_back(
          std::make_unique<Rank>(GetParam().memory, shape_, Tree::of(rank, GetParam().ranks)));
      factors(rank).make(matrix_, static_cast<std::uint64_t>(rank) * rows());
    }
  }

  std::uint64_t rows() const { return GetParam().rows; }
  std::uint64_t columns() const { return GetParam().columns; }
  Rank& at(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  Factors& factors(int rank) { return *at(rank).factors; }
  int depth() { return at(0).tree.depth; }

  void climb(int rank) {
    factors(rank).factor();
    for (std::size_t child = 0; child < at(rank).tree.children.size(); ++child) {
      const auto from = at(rank).tree.children[child].rank;
      climb(from);
      Numbers triangle(GetParam().memory, Factors::packed(columns()));
      factors(from).pack(triangle.data());
      factors(rank).combine(static_cast<int>(child), triangle.data());
    }
  }
  void descend(int rank) {
    for (auto child = at(rank).tree.children.size(); child-- > 0;) {
      Numbers c(GetParam().memory, Factors::square(columns()));
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
      const auto* vectors = factors(rank).vectors();
      for (std::uint64_t i = 0; i < rows(); ++i) {
        matrix_.left_row(static_cast<std::uint64_t>(rank) * rows() + i, expected.data());
        EXPECT_NEAR(sign * vectors[j * shape_.stride + i], expected[j], of_vectors);
      }
    }
  }
}

// That of LAPACK for the whole array at once.
class SmallRanks : public Ranks {};

TEST_P(SmallRanks, HaveTheSingularValuesOfTheWhole) {
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
  Lapack::get().svd(all, square.data(), values.data(), u.data(), vt.data());
  climb(0);
  factors(0).decompose();
  for (std::uint64_t j = 0; j < columns(); ++j) {
    EXPECT_NEAR(factors(0).values()[j], values[j], matrix_.tolerance(rows(), depth()));
  }
}

INSTANTIATE_TEST_SUITE_P(Loads, SmallRanks,
                         testing::Values(Load{1, 5, 5}, Load{2, 9, 4}, Load{3, 50, 7}));

std::string name_of(const testing::TestParamInfo<Load>& load) {
  return std::to_string(load.param.ranks) + "_ranks_" + std::to_string(load.param.rows) + "x" +
         std::to_string(load.param.columns);
}

// Blocks of one part of rows, of several, of a part that is not whole; more columns than LAPACK
// takes at once.
INSTANTIATE_TEST_SUITE_P(Loads, Ranks,
                         testing::Values(Load{1, 2, 2}, Load{1, 5, 5}, Load{2, 9, 4},
                                         Load{3, 50, 7}, Load{5, 33, 16}, Load{2, 2100, 16},
                                         Load{4, 700, 70}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(OnGpu, Ranks,
                         testing::Values(Load{1, 2, 2, MemoryKind::cuda},
                                         Load{3, 50, 7, MemoryKind::cuda},
                                         Load{5, 40, 16, MemoryKind::managed}),
                         name_of);

class Mistakes : public testing::TestWithParam<MemoryKind> {
 protected:
  void SetUp() override {
    if (const auto why = why_none(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }

  /// Of the first of two ranks, whose factor is combined with what `change` makes of the other's.
  static std::vector<double> values_after(const std::function<void(std::vector<double>&)>& change) {
    const auto shape = Lapack::Shape::of(50, 7);
    Matrix matrix(100, 7);
    Rank first(GetParam(), shape, Tree::of(0, 2));
    Rank second(GetParam(), shape, Tree::of(1, 2));
    first.factors->make(matrix, 0);
    first.factors->factor();
    second.factors->make(matrix, 50);
    second.factors->factor();
    Numbers triangle(GetParam(), Factors::packed(7));
    second.factors->pack(triangle.data());
    auto numbers = triangle.read();
    change(numbers);
    triangle.write(numbers);
    first.factors->combine(0, triangle.data());
    first.factors->decompose();
    return first.factors->values();
  }
};

TEST_P(Mistakes, MoveSingularValues) {
  const auto tolerance = Matrix(100, 7).tolerance(50, 1);
  const auto right = values_after([](auto&) {});
  const auto wrong_sign = values_after([](auto& triangle) { triangle[0] *= -1; });
  const auto lost = values_after([](auto& triangle) { std::ranges::fill(triangle, 0); });
  EXPECT_NEAR(right[0], 2, tolerance);
  EXPECT_GT(std::abs(wrong_sign[0] - 2), 1000 * tolerance);
  EXPECT_GT(std::abs(lost[0] - 2), 1000 * tolerance);
}

TEST_P(Mistakes, OfNoNumberEnd) {
  const auto values = values_after([](auto& triangle) { triangle[3] = std::nan(""); });
  for (const auto value : values) EXPECT_TRUE(std::isnan(value));
}

INSTANTIATE_TEST_SUITE_P(OnHost, Mistakes, testing::Values(MemoryKind::host));
INSTANTIATE_TEST_SUITE_P(OnGpu, Mistakes, testing::Values(MemoryKind::cuda));

}  // namespace
}  // namespace ucxbench::svd
