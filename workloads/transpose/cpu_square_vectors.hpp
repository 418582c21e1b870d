// The work on a strip or a square by a processor's vectors: its code is here once, and compiled by
// each file that includes this, in its anonymous namespace, for the processor that it is of. No
// #pragma once.
//
// Such a file defines before:
//   TARGET                       the attribute by which the compiler may use the instructions
//   Vector, width                a line of the cache or half of it, in elements
//   load(from), load_first(from, count)   the second reads no further and has zeros behind
//   store(to, v), stream(to, v)  to where a vector begins; the second past the caches
//   Vectors, transpose_vectors   a square `at` of as many of them

// With `whole`, of what nothing cuts off, all loops have a known end.
template <bool whole>
TARGET inline Vector load_of(const double* from, std::uint64_t count) {
  if constexpr (whole) return load(from);
  return count >= width ? load(from) : load_first(from, count);
}

template <typename Piece>
inline bool is_whole(std::uint64_t rows, std::uint64_t columns) {
  return rows == Piece::rows && columns == Piece::columns;
}

constexpr std::uint64_t line = 8;

// Each row of t is on another page. A strip's are already on their way.
TARGET inline void prefetch_rows(const double* t, std::uint64_t t_stride) {
  for (std::uint64_t i = 0; i < width; ++i) {
    for (std::uint64_t a = 0; a < Square::rows; a += line) __builtin_prefetch(t + i * t_stride + a);
  }
}

template <bool whole, typename Piece>
TARGET void transpose_as(const double* t, std::uint64_t t_stride, std::uint64_t rows,
                         std::uint64_t columns, Piece& out) {
  constexpr std::uint64_t ahead = 16;
  if constexpr (whole) {
    rows = Piece::rows;
    columns = Piece::columns;
  }
  for (std::uint64_t b = 0; b < columns; b += width) {
    if constexpr (whole && std::is_same_v<Piece, Square>) {
      if (b + ahead < columns) prefetch_rows(t + (b + ahead) * t_stride, t_stride);
    }
    for (std::uint64_t a = 0; a < rows; a += width) {
      Vectors vectors;
      for (std::uint64_t i = 0; i < width; ++i) {
        vectors.at[i] = whole || b + i < columns
                            ? load_of<whole>(t + (b + i) * t_stride + a, rows - a)
                            : Vector{};
      }
      transpose_vectors(vectors);
      auto* to = out.elements.data() + a * Piece::stride + b;
      for (std::uint64_t i = 0; i < width; ++i) store(to + i * Piece::stride, vectors.at[i]);
    }
  }
}

template <typename Piece>
TARGET void transpose(const double* t, std::uint64_t t_stride, std::uint64_t rows,
                      std::uint64_t columns, Piece& out) {
  return is_whole<Piece>(rows, columns) ? transpose_as<true>(t, t_stride, rows, columns, out)
                                        : transpose_as<false>(t, t_stride, rows, columns, out);
}

// The share of row `row` in what the next strip reads. Inlined, since GCC takes a call of what only
// prefetches for one without effect.
[[gnu::always_inline]] TARGET inline void fetch(const NextStrip& next, std::uint64_t x_stride,
                                                std::uint64_t row) {
  constexpr auto rows_of_t = Strip::columns / Strip::rows;
  constexpr int second_level = 2;
  for (std::uint64_t b = 0; b < Strip::columns; b += line) {
    __builtin_prefetch(next.x + row * x_stride + b, 0, second_level);
  }
  for (auto b = row * rows_of_t; b < (row + 1) * rows_of_t; ++b) {
    for (std::uint64_t a = 0; a < Strip::rows; a += line) {
      __builtin_prefetch(next.t + b * next.t_stride + a, 0, second_level);
    }
  }
}

template <bool whole>
TARGET void add_as(const double* x, std::uint64_t x_stride, const Strip& t, std::uint64_t rows,
                   std::uint64_t columns, double* y, std::uint64_t y_stride,
                   const NextStrip& next) {
  if constexpr (whole) columns = Strip::columns;
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    if constexpr (whole) fetch(next, x_stride, row);
    const auto* of_t = t.elements.data() + row * Strip::stride;
    for (std::uint64_t b = 0; b < columns; b += width) {
      stream(y + b, load_of<whole>(x + b, columns - b) + load(of_t + b));
    }
  }
}

TARGET void add(const double* x, std::uint64_t x_stride, const Strip& t, std::uint64_t rows,
                std::uint64_t columns, double* y, std::uint64_t y_stride, const NextStrip& next) {
  return is_whole<Strip>(rows, columns)
             ? add_as<true>(x, x_stride, t, rows, columns, y, y_stride, next)
             : add_as<false>(x, x_stride, t, rows, columns, y, y_stride, next);
}

template <bool whole>
TARGET void add_keeping_as(const double* x, std::uint64_t x_stride, Square& t, std::uint64_t rows,
                           std::uint64_t columns, double* y, std::uint64_t y_stride) {
  if constexpr (whole) columns = Square::columns;
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    auto* const of_t = t.elements.data() + row * Square::stride;
    for (std::uint64_t b = 0; b < columns; b += width) {
      const Vector sum = load_of<whole>(x + b, columns - b) + load(of_t + b);
      stream(y + b, sum);
      store(of_t + b, sum);
    }
  }
}

TARGET void add_keeping(const double* x, std::uint64_t x_stride, Square& t, std::uint64_t rows,
                        std::uint64_t columns, double* y, std::uint64_t y_stride) {
  return is_whole<Square>(rows, columns)
             ? add_keeping_as<true>(x, x_stride, t, rows, columns, y, y_stride)
             : add_keeping_as<false>(x, x_stride, t, rows, columns, y, y_stride);
}

TARGET void store_transposed(const Square& in, std::uint64_t rows, std::uint64_t columns, double* u,
                             std::uint64_t u_stride) {
  for (std::uint64_t b = 0; b < columns; b += width) {
    const auto count = std::min(width, columns - b);
    for (std::uint64_t a = 0; a < rows; a += width) {
      const auto* from = in.elements.data() + a * Square::stride + b;
      Vectors vectors;
      for (std::uint64_t i = 0; i < width; ++i) vectors.at[i] = load(from + i * Square::stride);
      transpose_vectors(vectors);
      auto* to = u + b * u_stride + a;
      // A loop without a known end would have the vectors in memory.
      if (count == width) {
        for (std::uint64_t i = 0; i < width; ++i) stream(to + i * u_stride, vectors.at[i]);
      } else {
        for (std::uint64_t i = 0; i < count; ++i) stream(to + i * u_stride, vectors.at[i]);
      }
    }
  }
}

template <bool whole>
TARGET void sum_as(const double* x, std::uint64_t x_stride, const Strip& t, const double* weights,
                   std::uint64_t rows, std::uint64_t columns, RowSums* sums,
                   const NextStrip& next) {
  if constexpr (whole) columns = Strip::columns;
  for (std::uint64_t row = 0; row < rows; ++row, x += x_stride) {
    if constexpr (whole) fetch(next, x_stride, row);
    const auto* of_t = t.elements.data() + row * Strip::stride;
    auto plain = load(sums[row].plain.data());
    auto weighted = load(sums[row].weighted.data());
    for (std::uint64_t b = 0; b < columns; b += width) {
      const auto count = columns - b;
      const Vector y = load_of<whole>(x + b, count) + load_of<whole>(of_t + b, count);
      plain += y;
      weighted += y * load_of<whole>(weights + b, count);
    }
    store(sums[row].plain.data(), plain);
    store(sums[row].weighted.data(), weighted);
  }
}

TARGET void sum(const double* x, std::uint64_t x_stride, const Strip& t, const double* weights,
                std::uint64_t rows, std::uint64_t columns, RowSums* sums, const NextStrip& next) {
  return is_whole<Strip>(rows, columns)
             ? sum_as<true>(x, x_stride, t, weights, rows, columns, sums, next)
             : sum_as<false>(x, x_stride, t, weights, rows, columns, sums, next);
}

void finish() { _mm_sfence(); }
