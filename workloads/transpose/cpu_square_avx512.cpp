#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <type_traits>

#include "workloads/transpose/cpu_square.hpp"

namespace ucxbench::transpose {

#if defined(__x86_64__)
namespace {

constexpr std::uint64_t line = 8;

struct Lines {
  __m512d at[line];  // std::array would drop the vector's attributes
};

[[gnu::target("avx512f,avx512dq,avx512vl")]] inline __m512d load(const double* from,
                                                                 std::uint64_t count) {
  if (count >= line) return _mm512_loadu_pd(from);
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << count) - 1U), from);
}

// Three steps that exchange single elements, then pairs of them twice. Not by intrinsics: GCC 12
// warns of them where they are inlined.
[[gnu::target("avx512f,avx512dq,avx512vl")]] inline void transpose_lines(Lines& rows) {
  Lines r;
  for (int i = 0; i < 8; i += 2) {
    const auto& one = rows.at[i];
    const auto& next = rows.at[i + 1];
    r.at[i] = __builtin_shufflevector(one, next, 0, 8, 2, 10, 4, 12, 6, 14);
    r.at[i + 1] = __builtin_shufflevector(one, next, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  Lines s;
  for (const int i : {0, 1, 4, 5}) {
    const auto& one = r.at[i];
    const auto& next = r.at[i + 2];
    s.at[i] = __builtin_shufflevector(one, next, 0, 1, 4, 5, 8, 9, 12, 13);
    s.at[i + 2] = __builtin_shufflevector(one, next, 2, 3, 6, 7, 10, 11, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    const auto& one = s.at[i];
    const auto& next = s.at[i + 4];
    rows.at[i] = __builtin_shufflevector(one, next, 0, 1, 4, 5, 8, 9, 12, 13);
    rows.at[i + 4] = __builtin_shufflevector(one, next, 2, 3, 6, 7, 10, 11, 14, 15);
  }
}

// With `whole`, of squares that nothing cuts off, all loops have a known end and no line a mask.

template <bool whole>
[[gnu::target("avx512f,avx512dq,avx512vl")]] inline __m512d load_of(const double* from,
                                                                    std::uint64_t count) {
  if constexpr (whole) return _mm512_loadu_pd(from);
  return load(from, count);
}

// Each row of t is on another page, which no hardware prefetcher foresees.
[[gnu::target("avx512f,avx512dq,avx512vl")]] inline void prefetch_rows(const double* t,
                                                                       std::uint64_t t_stride) {
  for (std::uint64_t i = 0; i < line; ++i) {
    for (std::uint64_t a = 0; a < square_side; a += line) __builtin_prefetch(t + i * t_stride + a);
  }
}

template <bool whole>
[[gnu::target("avx512f,avx512dq,avx512vl")]] void transpose_as(const double* t,
                                                               std::uint64_t t_stride,
                                                               std::uint64_t rows,
                                                               std::uint64_t columns, Square& out) {
  if constexpr (whole) rows = columns = square_side;
  for (std::uint64_t b = 0; b < columns; b += line) {
    if (whole && b + 2 * line < columns) prefetch_rows(t + (b + 2 * line) * t_stride, t_stride);
    for (std::uint64_t a = 0; a < rows; a += line) {
      Lines lines;
      for (std::uint64_t i = 0; i < line; ++i) {
        lines.at[i] = whole || b + i < columns
                          ? load_of<whole>(t + (b + i) * t_stride + a, rows - a)
                          : _mm512_setzero_pd();
      }
      transpose_lines(lines);
      auto* to = out.elements.data() + a * square_stride + b;
      for (std::uint64_t i = 0; i < line; ++i) _mm512_store_pd(to + i * square_stride, lines.at[i]);
    }
  }
}

[[gnu::target("avx512f,avx512dq,avx512vl")]] void transpose(const double* t, std::uint64_t t_stride,
                                                            std::uint64_t rows,
                                                            std::uint64_t columns, Square& out) {
  const bool whole = rows == square_side && columns == square_side;
  return whole ? transpose_as<true>(t, t_stride, rows, columns, out)
               : transpose_as<false>(t, t_stride, rows, columns, out);
}

template <bool whole, typename SquareOrConst>
[[gnu::target("avx512f,avx512dq,avx512vl")]] void add_as(const double* x, std::uint64_t x_stride,
                                                         SquareOrConst& t, std::uint64_t rows,
                                                         std::uint64_t columns, double* y,
                                                         std::uint64_t y_stride) {
  if constexpr (whole) columns = square_side;
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    auto* const of_t = t.elements.data() + row * square_stride;
    for (std::uint64_t b = 0; b < columns; b += line) {
      const auto sum = _mm512_add_pd(load_of<whole>(x + b, columns - b), _mm512_load_pd(of_t + b));
      _mm512_stream_pd(y + b, sum);
      if constexpr (!std::is_const_v<SquareOrConst>) _mm512_store_pd(of_t + b, sum);
    }
  }
}

[[gnu::target("avx512f,avx512dq,avx512vl")]] void add(const double* x, std::uint64_t x_stride,
                                                      const Square& t, std::uint64_t rows,
                                                      std::uint64_t columns, double* y,
                                                      std::uint64_t y_stride) {
  return columns == square_side ? add_as<true>(x, x_stride, t, rows, columns, y, y_stride)
                                : add_as<false>(x, x_stride, t, rows, columns, y, y_stride);
}

[[gnu::target("avx512f,avx512dq,avx512vl")]] void add_keeping(const double* x,
                                                              std::uint64_t x_stride, Square& t,
                                                              std::uint64_t rows,
                                                              std::uint64_t columns, double* y,
                                                              std::uint64_t y_stride) {
  return columns == square_side ? add_as<true>(x, x_stride, t, rows, columns, y, y_stride)
                                : add_as<false>(x, x_stride, t, rows, columns, y, y_stride);
}

[[gnu::target("avx512f,avx512dq,avx512vl")]] void store_transposed(const Square& in,
                                                                   std::uint64_t rows,
                                                                   std::uint64_t columns, double* u,
                                                                   std::uint64_t u_stride) {
  for (std::uint64_t b = 0; b < columns; b += line) {
    const auto count = std::min(line, columns - b);
    for (std::uint64_t a = 0; a < rows; a += line) {
      const auto* from = in.elements.data() + a * square_stride + b;
      Lines lines;
      for (std::uint64_t i = 0; i < line; ++i) {
        lines.at[i] = _mm512_load_pd(from + i * square_stride);
      }
      transpose_lines(lines);
      if (count == line) {
        for (std::uint64_t i = 0; i < line; ++i) {
          _mm512_stream_pd(u + (b + i) * u_stride + a, lines.at[i]);
        }
      } else {
        for (std::uint64_t i = 0; i < count; ++i) {
          _mm512_stream_pd(u + (b + i) * u_stride + a, lines.at[i]);
        }
      }
    }
  }
}

template <bool whole>
[[gnu::target("avx512f,avx512dq,avx512vl")]] void sum_as(const double* x, std::uint64_t x_stride,
                                                         const Square& t, const double* weights,
                                                         std::uint64_t rows, std::uint64_t columns,
                                                         RowSums* sums) {
  if constexpr (whole) columns = square_side;
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride) {
    const auto* from = t.elements.data() + row * square_stride;
    auto plain = _mm512_load_pd(sums[row].plain.data());
    auto weighted = _mm512_load_pd(sums[row].weighted.data());
    for (std::uint64_t b = 0; b < columns; b += line) {
      const auto y =
          _mm512_add_pd(load_of<whole>(x + b, columns - b), load_of<whole>(from + b, columns - b));
      plain = _mm512_add_pd(plain, y);
      weighted = _mm512_fmadd_pd(y, load_of<whole>(weights + b, columns - b), weighted);
    }
    _mm512_store_pd(sums[row].plain.data(), plain);
    _mm512_store_pd(sums[row].weighted.data(), weighted);
  }
}

[[gnu::target("avx512f,avx512dq,avx512vl")]] void sum(const double* x, std::uint64_t x_stride,
                                                      const Square& t, const double* weights,
                                                      std::uint64_t rows, std::uint64_t columns,
                                                      RowSums* sums) {
  return columns == square_side ? sum_as<true>(x, x_stride, t, weights, rows, columns, sums)
                                : sum_as<false>(x, x_stride, t, weights, rows, columns, sums);
}

void finish() { _mm_sfence(); }

}  // namespace

SquareCode avx512_code() { return {transpose, add, add_keeping, store_transposed, sum, finish}; }

#else

SquareCode avx512_code() { return plain_code(); }

#endif

}  // namespace ucxbench::transpose
