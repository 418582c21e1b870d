#include "workloads/transpose/cpu_kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/activity.hpp"
#include "workloads/common/cpu.hpp"

namespace ucxbench::transpose {
namespace {

// y begins at a cache line; x and t wherever their tile does.
struct Line {
  alignas(64) double elements[8];
};

struct Shape {
  std::uint64_t rows, columns;
};

const std::vector<Shape> shapes = {{1, 1},   {1, 9},   {9, 1},   {7, 8},     {8, 8},     {8, 7},
                                   {31, 33}, {63, 65}, {64, 64}, {65, 1030}, {200, 129}, {513, 77}};

struct Tested {
  const char* name;
  SquareCode (*code)();
  bool (*runs_here)();
};

class Code : public testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    if (!GetParam().runs_here()) GTEST_SKIP() << "this CPU has no " << GetParam().name;
    kernels = make_cpu_kernels([this] { ++steps; }, GetParam().code());
  }

  std::unique_ptr<Kernels> kernels;
  int steps = 0;
};

constexpr std::uint64_t size = 3000;

std::vector<double> generated(Kernels& kernels, const Tile& tile) {
  std::vector<double> x(tile.elements());
  kernels.generate(size, tile, x.data());
  return x;
}

TEST_P(Code, AddAndSumAnyShape) {
  for (const auto& [rows, columns] : shapes) {
    const Tile tile{100, 1000, rows, columns};
    const auto x = generated(*kernels, tile);
    const auto t = generated(*kernels, tile.transposed());
    const auto stride = row_stride(columns);
    std::vector<Line> lines(rows * stride / 8 + 1);
    auto* y = &lines[0].elements[0];
    const double untouched = -5;
    y[rows * stride] = untouched;
    kernels->add(tile, x.data(), t.data(), y);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t column = 0; column < columns; ++column) {
        ASSERT_EQ(y[row * stride + column], x[row * columns + column] + t[column * rows + row])
            << rows << "x" << columns << " at " << row << ", " << column;
      }
    }
    EXPECT_EQ(y[rows * stride], untouched) << rows << "x" << columns;
    const auto right = expected(size, tile, [] {});
    EXPECT_EQ(kernels->checksum(tile, y), right) << rows << "x" << columns;
    EXPECT_EQ(kernels->add_to_sum(tile, x.data(), t.data()), right) << rows << "x" << columns;
  }
}

TEST_P(Code, AddBothTilesOfAnyShape) {
  const double untouched = -5;
  for (const auto& [rows, columns] : shapes) {
    const Tile tile{100, 1000, rows, columns};
    const auto x = generated(*kernels, tile);
    const auto t = generated(*kernels, tile.transposed());
    std::vector<Line> y_lines(rows * row_stride(columns) / 8 + 1);
    std::vector<Line> u_lines(columns * row_stride(rows) / 8 + 1);
    auto* y = &y_lines[0].elements[0];
    auto* u = &u_lines[0].elements[0];
    y[rows * row_stride(columns)] = untouched;
    u[columns * row_stride(rows)] = untouched;
    kernels->add_both(tile, x.data(), t.data(), y, u);
    EXPECT_EQ(kernels->checksum(tile, y), expected(size, tile, [] {})) << rows << "x" << columns;
    EXPECT_EQ(kernels->checksum(tile.transposed(), u), expected(size, tile.transposed(), [] {}))
        << rows << "x" << columns;
    EXPECT_EQ(y[rows * row_stride(columns)], untouched) << rows << "x" << columns;
    EXPECT_EQ(u[columns * row_stride(rows)], untouched) << rows << "x" << columns;
  }
}

TEST_P(Code, AddATileToItself) {
  for (const std::uint64_t side : {1U, 8U, 63U, 64U, 65U, 200U}) {
    const Tile tile{300, 300, side, side};
    const auto x = generated(*kernels, tile);
    std::vector<Line> lines(side * row_stride(side) / 8);
    auto* y = &lines[0].elements[0];
    kernels->add_both(tile, x.data(), x.data(), y, y);
    EXPECT_EQ(kernels->checksum(tile, y), expected(size, tile, [] {})) << side;
  }
}

TEST_P(Code, ProgressWhileTheyCompute) {
  const Tile tile{0, 0, 256, 2048};
  const auto x = generated(*kernels, tile);
  const auto t = generated(*kernels, tile.transposed());
  steps = 0;
  kernels->add_to_sum(tile, x.data(), t.data());
  EXPECT_GE(steps, 4);
}

// Minutes of it are no hang.
TEST_P(Code, CountAsActivityWhileTheyCompute) {
  const Tile tile{0, 0, 256, 256};
  const auto counted = [](const auto& work) {
    const auto before = activity().count.load();
    work();
    return activity().count.load() - before;
  };
  std::vector<double> x(std::size_t{256} * 256);
  const auto t = x;
  std::vector<Line> lines(2 * (256 * row_stride(256) / 8 + 1));
  auto* y = &lines[0].elements[0];
  auto* u = &lines[lines.size() / 2].elements[0];
  EXPECT_GE(counted([&] { kernels->generate(256, tile, x.data()); }), 4U);
  EXPECT_GE(counted([&] { expected(256, tile, [] {}); }), 4U);
  EXPECT_GE(counted([&] { kernels->add(tile, x.data(), t.data(), y); }), 4U);
  EXPECT_GE(counted([&] { kernels->add_both(tile, x.data(), t.data(), y, u); }), 4U);
  EXPECT_GE(counted([&] { kernels->add_to_sum(tile, x.data(), t.data()); }), 4U);
  EXPECT_GE(counted([&] { kernels->checksum(tile, y); }), 4U);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Code,
                         testing::Values(Tested{"plain", plain_code, [] { return true; }},
                                         Tested{"avx2", avx2_code, has_avx2},
                                         Tested{"avx512", avx512_code, has_avx512}),
                         [](const auto& tested) { return std::string(tested.param.name); });

// What a tile adds up to when `change` was done to y.
template <typename Change>
Checksum checksum_of_changed(const Tile& tile, Change change) {
  const auto kernels = make_cpu_kernels([] {});
  const auto stride = row_stride(tile.columns);
  std::vector<double> y(tile.rows * stride);
  for (std::uint64_t i = 0; i < tile.rows; ++i) {
    for (std::uint64_t j = 0; j < tile.columns; ++j) {
      const auto row = tile.first_row + i;
      const auto column = tile.first_column + j;
      y[i * stride + j] =
          static_cast<double>(element_at(size, row, column) + element_at(size, column, row));
    }
  }
  change(y);
  return kernels->checksum(tile, y.data());
}

TEST(Checksum, NoticesOneBitOfAnyElement) {
  const Tile tile{0, 64, 24, 24};
  const auto right = expected(size, tile, [] {});
  EXPECT_EQ(checksum_of_changed(tile, [](auto&) {}), right);
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto flip = [&](std::vector<double>& y) {
      y[5 * 24 + 7] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(y[5 * 24 + 7]) ^
                                            std::uint64_t{1} << bit);
    };
    EXPECT_NE(checksum_of_changed(tile, flip), right) << bit;
  }
}

TEST(Checksum, NoticesTwoElementsInEachOthersPlace) {
  const Tile tile{0, 64, 24, 24};
  const auto right = expected(size, tile, [] {});
  const auto made = checksum_of_changed(tile, [](auto& y) { std::swap(y[3], y[24 * 8 + 4]); });
  EXPECT_EQ(made.sum, right.sum);
  EXPECT_NE(made.weighted, right.weighted);
}

}  // namespace
}  // namespace ucxbench::transpose
