#include "workloads/svd/factors.hpp"

#include <algorithm>
#include <cmath>

namespace ucxbench::svd {

void fill_block(Matrix& matrix, std::uint64_t first_row, const Lapack::Shape& shape,
                double* block) {
  constexpr std::uint64_t at_once = 8;  // a cache line of each column
  std::vector<double> rows(at_once * shape.columns);
  for (std::uint64_t first = 0; first < shape.rows; first += at_once) {
    const auto count = std::min(at_once, shape.rows - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      matrix.row(first_row + first + i, rows.data() + i * shape.columns);
    }
    for (std::uint64_t j = 0; j < shape.columns; ++j) {
      auto* column = block + j * shape.stride + first;
      for (std::uint64_t i = 0; i < count; ++i) column[i] = rows[i * shape.columns + j];
    }
  }
}

bool all_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

}  // namespace ucxbench::svd
