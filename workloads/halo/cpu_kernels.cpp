#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/core/activity.hpp"
#include "workloads/halo/kernels.hpp"

namespace ucxbench::halo {
namespace {

// Elements between two calls of the progress function: some 10 µs.
constexpr std::uint64_t pace = 8192;

class CpuKernels : public Kernels {
 public:
  explicit CpuKernels(Progress progress) : progress_(counting(std::move(progress))) {}

  void start(const Tile& tile, const Waves& waves, double* u) override {
    std::fill_n(u, tile.elements(), no_number);
    for (std::uint64_t row = 0; row < tile.edge; ++row) {
      auto* elements = u + tile.at(static_cast<std::int64_t>(row), 0);
      for (std::uint64_t column = 0; column < tile.edge; ++column) {
        elements[column] = element_of(waves.at(row, column), 1);
      }
      progress_();
    }
  }

  void pack(const Tile& tile, const double* u, double* west, double* east) override {
    const auto* first = u + tile.at(0, 0);
    for (std::uint64_t row = 0; row < tile.edge; ++row) {
      west[row] = first[row * tile.stride()];
      east[row] = first[row * tile.stride() + tile.edge - 1];
    }
    progress_();
  }

  void unpack(const Tile& tile, const double* west, const double* east, double* u) override {
    auto* before = u + tile.at(0, -1);
    for (std::uint64_t row = 0; row < tile.edge; ++row) {
      before[row * tile.stride()] = west[row];
      before[row * tile.stride() + tile.edge + 1] = east[row];
    }
    progress_();
  }

  void step(const Tile& tile, const double* u, double* v, Part part) override {
    const auto edge = tile.edge;
    if (part == Part::all) return block(tile, u, v, 0, edge, 0, edge);
    if (part == Part::inside) {
      if (edge > 2) block(tile, u, v, 1, edge - 1, 1, edge - 1);
      return;
    }
    block(tile, u, v, 0, 1, 0, edge);
    if (edge > 1) block(tile, u, v, edge - 1, edge, 0, edge);
    if (edge > 2) {
      block(tile, u, v, 1, edge - 1, 0, 1);
      block(tile, u, v, 1, edge - 1, edge - 1, edge);
    }
  }

  std::uint64_t wrong(const Tile& tile, const double* u, const Expected& expected) override {
    std::uint64_t found = 0;
    for (std::uint64_t row = 0; row < tile.edge; ++row) {
      const auto* elements = u + tile.at(static_cast<std::int64_t>(row), 0);
      for (std::uint64_t column = 0; column < tile.edge; ++column) {
        if (!is_right(elements[column], expected, row, column)) ++found;
      }
      progress_();
    }
    return found;
  }

 private:
  // No number is not right either.
  static bool is_right(double element, const Expected& expected, std::uint64_t row,
                       std::uint64_t column) {
    const auto right = element_of(expected.waves.at(row, column), expected.amplitude);
    return std::abs(element - right) <= expected.tolerance;
  }

  void block(const Tile& tile, const double* __restrict u, double* __restrict v,
             std::uint64_t first_row, std::uint64_t end_row, std::uint64_t first_column,
             std::uint64_t end_column) {
    const auto stride = tile.stride();
    std::uint64_t since = 0;
    for (auto row = first_row; row < end_row; ++row) {
      const auto begin = tile.at(static_cast<std::int64_t>(row), 0);
      for (auto at = begin + first_column; at < begin + end_column; ++at) {
        v[at] = stencil(u + at, stride);
      }
      since += end_column - first_column;
      if (since < pace) continue;
      since = 0;
      progress_();
    }
    progress_();
  }

  Progress progress_;
};

}  // namespace

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress) {
  return std::make_unique<CpuKernels>(std::move(progress));
}

}  // namespace ucxbench::halo
