#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <type_traits>

#include "workloads/transpose/cpu_square.hpp"

namespace ucxbench::transpose {

#if defined(__x86_64__)
namespace {

#define TARGET [[gnu::target("avx2,fma")]]

using Vector = __m256d;
constexpr std::uint64_t width = 4;

struct Vectors {
  Vector at[width];  // std::array would drop the vector's attributes
};

TARGET inline Vector load(const double* from) { return _mm256_loadu_pd(from); }

TARGET inline Vector load_first(const double* from, std::uint64_t count) {
  const auto places = _mm256_setr_epi64x(0, 1, 2, 3);
  const auto wanted = _mm256_set1_epi64x(static_cast<std::int64_t>(count));
  return _mm256_maskload_pd(from, _mm256_cmpgt_epi64(wanted, places));
}

TARGET inline void store(double* to, Vector v) { _mm256_store_pd(to, v); }

TARGET inline void stream(double* to, Vector v) { _mm256_stream_pd(to, v); }

// Two steps that exchange single elements, then pairs of them.
TARGET inline void transpose_vectors(Vectors& rows) {
  Vectors r;
  for (int i = 0; i < 4; i += 2) {
    r.at[i] = __builtin_shufflevector(rows.at[i], rows.at[i + 1], 0, 4, 2, 6);
    r.at[i + 1] = __builtin_shufflevector(rows.at[i], rows.at[i + 1], 1, 5, 3, 7);
  }
  for (int i = 0; i < 2; ++i) {
    rows.at[i] = __builtin_shufflevector(r.at[i], r.at[i + 2], 0, 1, 4, 5);
    rows.at[i + 2] = __builtin_shufflevector(r.at[i], r.at[i + 2], 2, 3, 6, 7);
  }
}

#include "workloads/transpose/cpu_square_vectors.hpp"

}  // namespace

SquareCode avx2_code() {
  return {transpose<Strip>, transpose<Square>, add, add_keeping, store_transposed, sum, finish};
}

#else

SquareCode avx2_code() { return plain_code(); }

#endif

}  // namespace ucxbench::transpose
