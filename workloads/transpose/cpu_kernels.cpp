#include "workloads/transpose/cpu_kernels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "harness/core/activity.hpp"
#include "workloads/common/cpu.hpp"

namespace ucxbench::transpose {
namespace {

// Columns between two calls of the progress function: some 100 µs of a row of them.
constexpr std::uint64_t pace = 1024;

double total(const std::array<double, 8>& lanes) {
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

class CpuKernels : public Kernels {
 public:
  CpuKernels(Progress progress, const SquareCode& code)
      : progress_(counting(std::move(progress))), code_(code) {}

  void generate(std::uint64_t size, const Tile& tile, double* x) override {
    for (std::uint64_t row = 0; row < tile.rows; ++row) {
      for (std::uint64_t column = 0; column < tile.columns; ++column) {
        *x++ =
            static_cast<double>(element_at(size, tile.first_row + row, tile.first_column + column));
      }
      progress_();
    }
  }

  void add(const Tile& tile, const double* x, const double* t, double* y) override {
    const auto stride = row_stride(tile.columns);
    for (std::uint64_t a = 0; a < tile.rows; a += Strip::rows) {
      for_strips(
          tile, x, t, a,
          [&](std::uint64_t b, std::uint64_t rows, std::uint64_t columns, const NextStrip& next) {
            code_.add(x + a * tile.columns + b, tile.columns, strip_, rows, columns,
                      y + a * stride + b, stride, next);
          });
    }
    code_.finish();
  }

  // By squares: y is read from memory once and u not at all.
  void add_both(const Tile& tile, const double* x, const double* t, double* y, double* u) override {
    const auto y_stride = row_stride(tile.columns);
    const auto u_stride = row_stride(tile.rows);
    const bool with_itself = x == t;
    for (std::uint64_t a = 0; a < tile.rows; a += Square::rows) {
      const auto rows = std::min(Square::rows, tile.rows - a);
      for (auto b = with_itself ? a : 0; b < tile.columns; b += Square::columns) {
        if (b % pace == 0) progress_();
        const auto columns = std::min(Square::columns, tile.columns - b);
        code_.transpose_square(t + b * tile.rows + a, tile.rows, rows, columns, square_);
        code_.add_keeping(x + a * tile.columns + b, tile.columns, square_, rows, columns,
                          y + a * y_stride + b, y_stride);
        code_.store_transposed(square_, rows, columns, u + b * u_stride + a, u_stride);
      }
    }
    code_.finish();
  }

  Checksum add_to_sum(const Tile& tile, const double* x, const double* t) override {
    std::vector<double> weights(tile.columns);
    for (std::uint64_t column = 0; column < tile.columns; ++column) {
      weights[column] = static_cast<double>(column_weight(tile.first_column + column));
    }
    Checksum all;
    for (std::uint64_t a = 0; a < tile.rows; a += Strip::rows) {
      std::array<RowSums, Strip::rows> sums{};
      for_strips(
          tile, x, t, a,
          [&](std::uint64_t b, std::uint64_t rows, std::uint64_t columns, const NextStrip& next) {
            code_.sum(x + a * tile.columns + b, tile.columns, strip_, weights.data() + b, rows,
                      columns, sums.data(), next);
          });
      for (auto row = a; row < std::min(a + Strip::rows, tile.rows); ++row) {
        all.add_row(tile.first_row + row, word_of(total(sums[row - a].plain)),
                    word_of(total(sums[row - a].weighted)));
      }
    }
    return all;
  }

  Checksum checksum(const Tile& tile, const double* y) override {
    Checksum all;
    for (std::uint64_t row = 0; row < tile.rows; ++row) {
      std::uint64_t sum = 0;
      std::uint64_t weighted = 0;
      for (std::uint64_t column = 0; column < tile.columns; ++column) {
        const auto word = word_of(y[column]);
        sum += word;
        weighted += column_weight(tile.first_column + column) * word;
      }
      all.add_row(tile.first_row + row, sum, weighted);
      y += row_stride(tile.columns);
      progress_();
    }
    return all;
  }

 private:
  // The strips whose first row is `a`, one after the other: each transposed, then used.
  template <typename Use>
  void for_strips(const Tile& tile, const double* x, const double* t, std::uint64_t a, Use use) {
    const auto rows = std::min(Strip::rows, tile.rows - a);
    for (std::uint64_t b = 0; b < tile.columns; b += Strip::columns) {
      if (b % pace == 0) progress_();
      const auto columns = std::min(Strip::columns, tile.columns - b);
      code_.transpose_strip(t + b * tile.rows + a, tile.rows, rows, columns, strip_);
      const auto next_b = b + Strip::columns < tile.columns ? b + Strip::columns : 0;
      const auto next_a = next_b != 0 ? a : a + Strip::rows;
      use(b, rows, columns,
          {.x = x + next_a * tile.columns + next_b,
           .t = t + next_b * tile.rows + next_a,
           .t_stride = tile.rows});
    }
  }

  Progress progress_;
  SquareCode code_;
  Square square_{};
  Strip strip_{};
};

}  // namespace

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress, const SquareCode& code) {
  return std::make_unique<CpuKernels>(std::move(progress), code);
}

std::unique_ptr<Kernels> make_cpu_kernels(Kernels::Progress progress) {
  const auto code = has_avx512() ? avx512_code() : has_avx2() ? avx2_code() : plain_code();
  return make_cpu_kernels(std::move(progress), code);
}

}  // namespace ucxbench::transpose
