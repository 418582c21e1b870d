#include "workloads/transpose/verdict.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "workloads/common/injected.hpp"
#include "workloads/transpose/kernels.hpp"

namespace ucxbench::transpose {
namespace {

constexpr Layout layout{40, 10, 2};

// x + t instead of x + tᵀ, of square tiles.
Checksum without_transposing(const Tile& tile, const Tile& other) {
  Checksum all;
  for (std::uint64_t a = 0; a < tile.rows; ++a) {
    std::uint64_t sum = 0;
    std::uint64_t weighted = 0;
    for (std::uint64_t b = 0; b < tile.columns; ++b) {
      const auto column = tile.first_column + b;
      const auto y = element_at(layout.size, tile.first_row + a, column) +
                     element_at(layout.size, other.first_row + a, other.first_column + b);
      sum += y;
      weighted += column_weight(column) * y;
    }
    all.add_row(tile.first_row + a, sum, weighted);
  }
  return all;
}

Checksum right(std::uint64_t i, std::uint64_t j) {
  return expected(layout.size, layout.tile(i, j), [] {});
}

std::string verdict(std::uint64_t i, std::uint64_t j, const Checksum& made) {
  return what_is_wrong(layout, i, j, right(i, j), made);
}

Checksum made_with(std::uint64_t i, std::uint64_t j, const Tile& other, bool turn) {
  const auto kernels = make_cpu_kernels([] {});
  const auto tile = layout.tile(i, j);
  std::vector<double> x(tile.elements());
  std::vector<double> t(other.elements());
  kernels->generate(layout.size, tile, x.data());
  kernels->generate(layout.size, other, t.data());
  if (turn) corrupt(MemoryKind::host, &t[3]);
  return kernels->add_to_sum(tile, x.data(), t.data());
}

TEST(Verdict, SaysNothingOfWhatIsRight) {
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) {
    for (std::uint64_t j = 0; j < layout.chunks(); ++j) {
      EXPECT_EQ(verdict(i, j, made_with(i, j, layout.tile(j, i), false)), "");
    }
  }
}

TEST(Verdict, AMissingTransposeFailsEverywhereAlsoOnTheDiagonal) {
  for (std::uint64_t i = 0; i < layout.chunks(); ++i) {
    for (std::uint64_t j = 0; j < layout.chunks(); ++j) {
      const auto made = without_transposing(layout.tile(i, j), layout.tile(j, i));
      EXPECT_EQ(made.sum, right(i, j).sum);
      EXPECT_NE(verdict(i, j, made).find("stand in the wrong places"), std::string::npos)
          << i << ", " << j;
    }
  }
}

TEST(Verdict, TellsMistakesApart) {
  EXPECT_EQ(verdict(1, 2, {}), "tile (1, 2) of y was never made");
  EXPECT_EQ(verdict(1, 2, made_with(1, 2, layout.tile(1, 1), false)),
            "tile (1, 2) of y was made with tile (1, 1) of x in the place of (2, 1)");
  EXPECT_EQ(verdict(1, 2, made_with(1, 2, layout.tile(2, 3), false)),
            "tile (1, 2) of y was made with tile (2, 3) of x in the place of (2, 1)");
  const auto corrupt = verdict(1, 2, made_with(1, 2, layout.tile(2, 1), true));
  EXPECT_NE(corrupt.find("tile (1, 2) of y has wrong elements"), std::string::npos) << corrupt;
}

}  // namespace
}  // namespace ucxbench::transpose
