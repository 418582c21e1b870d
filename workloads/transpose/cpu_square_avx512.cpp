#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <type_traits>

#include "workloads/transpose/cpu_square.hpp"

namespace ucxbench::transpose {

#if defined(__x86_64__)
namespace {

#define TARGET [[gnu::target("avx512f,avx512dq,avx512vl")]]

using Vector = __m512d;
constexpr std::uint64_t width = 8;

struct Vectors {
  Vector at[width];  // std::array would drop the vector's attributes
};

TARGET inline Vector load(const double* from) { return _mm512_loadu_pd(from); }

TARGET inline Vector load_first(const double* from, std::uint64_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << count) - 1U), from);
}

TARGET inline void store(double* to, Vector v) { _mm512_store_pd(to, v); }

TARGET inline void stream(double* to, Vector v) { _mm512_stream_pd(to, v); }

// Three steps that exchange single elements, then pairs of them twice. Not by intrinsics: GCC 12
// warns of them where they are inlined.
TARGET inline void transpose_vectors(Vectors& rows) {
  Vectors r;
  for (int i = 0; i < 8; i += 2) {
    const auto& one = rows.at[i];
    const auto& next = rows.at[i + 1];
    r.at[i] = __builtin_shufflevector(one, next, 0, 8, 2, 10, 4, 12, 6, 14);
    r.at[i + 1] = __builtin_shufflevector(one, next, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  Vectors s;
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

#include "workloads/transpose/cpu_square_vectors.hpp"

}  // namespace

SquareCode avx512_code() {
  return {transpose<Strip>, transpose<Square>, add, add_keeping, store_transposed, sum, finish};
}

#else

SquareCode avx512_code() { return plain_code(); }

#endif

}  // namespace ucxbench::transpose
