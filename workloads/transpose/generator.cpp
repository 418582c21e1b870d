#include "workloads/transpose/generator.hpp"

#include "harness/core/activity.hpp"

namespace ucxbench::transpose {

Checksum expected(std::uint64_t size, const Tile& tile, const std::function<void()>& progress) {
  Checksum all;
  for (auto i = tile.first_row; i < tile.first_row + tile.rows; ++i) {
    std::uint64_t sum = 0;
    std::uint64_t weighted = 0;
    for (auto j = tile.first_column; j < tile.first_column + tile.columns; ++j) {
      const auto y = element_at(size, i, j) + element_at(size, j, i);
      sum += y;
      weighted += column_weight(j) * y;
    }
    all.add_row(i, sum, weighted);
    activity().bump();
    progress();
  }
  return all;
}

std::uint64_t sum_of_x(std::uint64_t size, const Tile& tile) {
  std::uint64_t sum = 0;
  for (auto i = tile.first_row; i < tile.first_row + tile.rows; ++i) {
    for (auto j = tile.first_column; j < tile.first_column + tile.columns; ++j) {
      sum += element_at(size, i, j);
    }
  }
  return sum;
}

}  // namespace ucxbench::transpose
