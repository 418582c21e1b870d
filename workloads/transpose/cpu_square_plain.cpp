#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>

#include "workloads/transpose/cpu_square.hpp"

namespace ucxbench::transpose {
namespace {

constexpr std::uint64_t line = 8;

#if defined(__x86_64__)
void transpose_whole(const double* t, std::uint64_t t_stride, Square& out) {
  for (std::uint64_t first = 0; first < square_side; first += line) {
    // Each row of t is on another page, which no hardware prefetcher foresees.
    for (auto next = first + line; next < std::min(first + 2 * line, square_side); ++next) {
      for (std::uint64_t a = 0; a < square_side; a += line) {
        _mm_prefetch(reinterpret_cast<const char*>(t + next * t_stride + a), _MM_HINT_T0);
      }
    }
    // By two rows and columns, so that lines of `out` are written whole.
    for (std::uint64_t a = 0; a < square_side; a += 2) {
      for (auto b = first; b < first + line; b += 2) {
        auto* to = out.elements.data() + a * square_stride + b;
        const auto one = _mm_loadu_pd(t + b * t_stride + a);
        const auto next = _mm_loadu_pd(t + (b + 1) * t_stride + a);
        _mm_store_pd(to, _mm_unpacklo_pd(one, next));
        _mm_store_pd(to + square_stride, _mm_unpackhi_pd(one, next));
      }
    }
  }
}
#endif

void transpose(const double* t, std::uint64_t t_stride, std::uint64_t rows, std::uint64_t columns,
               Square& out) {
#if defined(__x86_64__)
  if (rows == square_side && columns == square_side) return transpose_whole(t, t_stride, out);
#endif
  // By blocks, so that each line of t is read once.
  for (std::uint64_t first = 0; first < rows; first += line) {
    const auto end = std::min(first + line, rows);
    for (std::uint64_t b = 0; b < columns; ++b) {
      for (auto a = first; a < end; ++a) {
        out.elements[a * square_stride + b] = t[b * t_stride + a];
      }
    }
  }
}

void add_row(const double* x, const double* t, std::uint64_t columns, double* y) {
#if defined(__x86_64__)
  std::uint64_t b = 0;
  for (; b + 1 < columns; b += 2) {
    _mm_stream_pd(y + b, _mm_add_pd(_mm_loadu_pd(x + b), _mm_load_pd(t + b)));
  }
  if (b < columns) _mm_stream_pd(y + b, _mm_add_pd(_mm_load_sd(x + b), _mm_load_sd(t + b)));
#else
  for (std::uint64_t b = 0; b < columns; ++b) y[b] = x[b] + t[b];
#endif
}

void add(const double* x, std::uint64_t x_stride, const Square& t, std::uint64_t rows,
         std::uint64_t columns, double* y, std::uint64_t y_stride) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    add_row(x + row * x_stride, t.elements.data() + row * square_stride, columns,
            y + row * y_stride);
  }
}

void add_keeping(const double* x, std::uint64_t x_stride, Square& t, std::uint64_t rows,
                 std::uint64_t columns, double* y, std::uint64_t y_stride) {
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    auto* kept = t.elements.data() + row * square_stride;
    for (std::uint64_t b = 0; b < columns; ++b) kept[b] += x[b];
#if defined(__x86_64__)
    for (std::uint64_t b = 0; b < columns; b += 2) _mm_stream_pd(y + b, _mm_load_pd(kept + b));
#else
    std::copy(kept, kept + columns, y);
#endif
  }
}

void store_transposed(const Square& in, std::uint64_t rows, std::uint64_t columns, double* u,
                      std::uint64_t u_stride) {
#if defined(__x86_64__)
  for (std::uint64_t b = 0; b < columns; b += 2) {
    const auto* from = in.elements.data() + b;
    auto* to = u + b * u_stride;
    for (std::uint64_t a = 0; a < rows; a += 2) {
      const auto one = _mm_load_pd(from + a * square_stride);
      const auto next = _mm_load_pd(from + (a + 1) * square_stride);
      _mm_stream_pd(to + a, _mm_unpacklo_pd(one, next));
      if (b + 1 < columns) _mm_stream_pd(to + u_stride + a, _mm_unpackhi_pd(one, next));
    }
  }
#else
  for (std::uint64_t b = 0; b < columns; ++b) {
    const auto* from = in.elements.data() + b;
    auto* to = u + b * u_stride;
    for (std::uint64_t a = 0; a < rows; ++a) to[a] = from[a * square_stride];
  }
#endif
}

void sum_row(const double* x, const double* t, const double* weights, std::uint64_t columns,
             RowSums& sums) {
  for (std::uint64_t first = 0; first < columns; first += line) {
    const auto count = std::min(line, columns - first);
    for (std::uint64_t b = 0; b < count; ++b) {
      const auto y = x[first + b] + t[first + b];
      sums.plain[b] += y;
      sums.weighted[b] += y * weights[first + b];
    }
  }
}

void sum(const double* x, std::uint64_t x_stride, const Square& t, const double* weights,
         std::uint64_t rows, std::uint64_t columns, RowSums* sums) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    sum_row(x + row * x_stride, t.elements.data() + row * square_stride, weights, columns,
            sums[row]);
  }
}

void finish() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace

SquareCode plain_code() { return {transpose, add, add_keeping, store_transposed, sum, finish}; }

}  // namespace ucxbench::transpose
