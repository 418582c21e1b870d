// The kernels of a GPU against those of the CPU, on a real GPU or on the emulated driver.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "workloads/common/cuda_test.hpp"
#include "workloads/common/injected.hpp"
#include "workloads/transpose/kernels.hpp"

namespace ucxbench::transpose {
namespace {

constexpr std::uint64_t size = 5000;

/// Everything that one kind of kernels makes of a tile.
struct Made {
  std::vector<double> x, t, y, both, transposed;  // what is made of x and t without its gaps
  Checksum summed, sum_of_corrupt, checked, checked_with_a_half;
  double corrupted = 0;
};

std::vector<double> without_gaps(const Tile& tile, const std::vector<double>& y) {
  std::vector<double> elements;
  for (std::uint64_t row = 0; row < tile.rows; ++row) {
    const auto* begin = y.data() + row * row_stride(tile.columns);
    elements.insert(elements.end(), begin, begin + tile.columns);
  }
  return elements;
}

Made make(const std::unique_ptr<Kernels>& kernels, MemoryKind kind, const Tile& tile) {
  Elements x(kind, tile.elements(), 1);
  Elements t(kind, tile.elements(), 3);
  const auto stride = row_stride(tile.columns);
  Elements y(kind, tile.rows * stride, 0);
  Elements u(kind, tile.columns * row_stride(tile.rows), 0);
  Made made;
  kernels->generate(size, tile, x.data());
  kernels->generate(size, tile.transposed(), t.data());
  made.x = x.read();
  made.t = t.read();
  kernels->add(tile, x.data(), t.data(), y.data());
  made.y = without_gaps(tile, y.read());
  y.fill();
  kernels->add_both(tile, x.data(), t.data(), y.data(), u.data());
  made.both = without_gaps(tile, y.read());
  made.transposed = without_gaps(tile.transposed(), u.read());
  made.summed = kernels->add_to_sum(tile, x.data(), t.data());
  made.checked = kernels->checksum(tile, y.data());
  y.write((tile.rows - 1) * stride + tile.columns - 1, {0.5});
  made.checked_with_a_half = kernels->checksum(tile, y.data());
  corrupt(kind, t.data());
  made.corrupted = t.read().front();
  made.sum_of_corrupt = kernels->add_to_sum(tile, x.data(), t.data());
  return made;
}

/// `cuda`: the GPU's kernels.
void expect_the_same(const std::unique_ptr<Kernels>& cuda, std::uint64_t rows,
                     std::uint64_t columns) {
  SCOPED_TRACE(testing::Message() << rows << "x" << columns);
  const Tile tile{100, 1500, rows, columns};
  const auto here = make(make_cpu_kernels([] {}), MemoryKind::host, tile);
  const auto there = make(cuda, MemoryKind::cuda, tile);
  EXPECT_EQ(here.x, there.x);
  EXPECT_EQ(here.t, there.t);
  EXPECT_EQ(here.y, there.y);
  EXPECT_EQ(here.y, there.both);
  EXPECT_EQ(here.transposed, there.transposed);
  const auto right = expected(size, tile, [] {});
  EXPECT_EQ(there.summed, right);
  EXPECT_EQ(there.checked, right);
  EXPECT_NE(there.checked_with_a_half, right);
  EXPECT_EQ(there.checked_with_a_half, here.checked_with_a_half);
  EXPECT_EQ(there.corrupted, -there.t.front());
  EXPECT_NE(there.sum_of_corrupt, right);
  EXPECT_EQ(there.sum_of_corrupt, here.sum_of_corrupt);
}

class CudaTranspose : public OnGpu {
 protected:
  CudaTranspose() : OnGpu(why_no_cuda_kernels()) {}
};

TEST_F(CudaTranspose, AddsATileToItself) {
  const auto kernels = make_cuda_kernels([] {});
  for (const std::uint64_t side : {1U, 31U, 32U, 33U, 64U, 200U}) {
    const Tile tile{300, 300, side, side};
    Elements x(MemoryKind::cuda, tile.elements(), 1);
    Elements y(MemoryKind::cuda, side * row_stride(side), 0);
    kernels->generate(size, tile, x.data());
    kernels->add_both(tile, x.data(), x.data(), y.data(), y.data());
    EXPECT_EQ(kernels->checksum(tile, y.data()), expected(size, tile, [] {})) << side;
    y.read();
  }
}

// Each block has several squares, and several rows.
TEST_F(CudaTranspose, GoesRoundAgain) {
  const auto cuda = make_cuda_kernels([] {}, 3);
  expect_the_same(cuda, 100, 257);
  expect_the_same(cuda, 33, 300);
}

TEST_F(CudaTranspose, DoesWhatTheCpuDoes) {
  struct Shape {
    std::uint64_t rows, columns;
  };
  // Around the sizes of a square and of a block.
  std::vector<Shape> shapes = {{1, 1},   {1, 1000},  {31, 33},   {32, 32},  {33, 31},
                               {64, 64}, {100, 257}, {257, 100}, {513, 77}, {5000, 3}};
  // With more squares than blocks.
  if (!is_emulated()) shapes.insert(shapes.end(), {{2080, 2048}, {131'100, 1}});
  const auto cuda = make_cuda_kernels([] {});
  for (const auto& [rows, columns] : shapes) expect_the_same(cuda, rows, columns);
}

}  // namespace
}  // namespace ucxbench::transpose
