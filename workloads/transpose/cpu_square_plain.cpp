#include <algorithm>

#include "workloads/transpose/cpu_square.hpp"

namespace ucxbench::transpose {
namespace {

constexpr std::uint64_t line = 8;

template <typename Piece>
void transpose(const double* t, std::uint64_t t_stride, std::uint64_t rows, std::uint64_t columns,
               Piece& out) {
  // By blocks, so that each line of t is read once.
  for (std::uint64_t first = 0; first < rows; first += line) {
    const auto end = std::min(first + line, rows);
    for (std::uint64_t b = 0; b < columns; ++b) {
      for (auto a = first; a < end; ++a) {
        out.elements[a * Piece::stride + b] = t[b * t_stride + a];
      }
    }
  }
}

void add(const double* x, std::uint64_t x_stride, const Strip& t, std::uint64_t rows,
         std::uint64_t columns, double* y, std::uint64_t y_stride, const NextStrip&) {
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    const auto* of_t = t.elements.data() + row * Strip::stride;
    for (std::uint64_t b = 0; b < columns; ++b) y[b] = x[b] + of_t[b];
  }
}

void add_keeping(const double* x, std::uint64_t x_stride, Square& t, std::uint64_t rows,
                 std::uint64_t columns, double* y, std::uint64_t y_stride) {
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    auto* kept = t.elements.data() + row * Square::stride;
    for (std::uint64_t b = 0; b < columns; ++b) y[b] = kept[b] += x[b];
  }
}

void store_transposed(const Square& in, std::uint64_t rows, std::uint64_t columns, double* u,
                      std::uint64_t u_stride) {
  for (std::uint64_t b = 0; b < columns; ++b) {
    const auto* from = in.elements.data() + b;
    auto* to = u + b * u_stride;
    for (std::uint64_t a = 0; a < rows; ++a) to[a] = from[a * Square::stride];
  }
}

void sum(const double* x, std::uint64_t x_stride, const Strip& t, const double* weights,
         std::uint64_t rows, std::uint64_t columns, RowSums* sums, const NextStrip&) {
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride) {
    const auto* of_t = t.elements.data() + row * Strip::stride;
    for (std::uint64_t first = 0; first < columns; first += line) {
      const auto count = std::min(line, columns - first);
      for (std::uint64_t lane = 0; lane < count; ++lane) {
        const auto b = first + lane;
        const auto y = x[b] + of_t[b];
        sums[row].plain[lane] += y;
        sums[row].weighted[lane] += y * weights[b];
      }
    }
  }
}

void finish() {}

}  // namespace

SquareCode plain_code() {
  return {transpose<Strip>, transpose<Square>, add, add_keeping, store_transposed, sum, finish};
}

}  // namespace ucxbench::transpose
