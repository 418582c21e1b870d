#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

#if defined(__x86_64__)
namespace {

#define TARGET [[gnu::target("avx2,bmi,bmi2")]]

TARGET inline __m256i half_of(const std::uint64_t* words) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
}

TARGET inline void stream_line(std::uint64_t* to, const Line& line, std::uint64_t last) {
  const auto* words = line.words.data();
  auto* halves = reinterpret_cast<__m256i*>(to);
  _mm256_stream_si256(halves, half_of(words));
  _mm256_stream_si256(halves + 1, _mm256_insert_epi64(half_of(words + line_words / 2),
                                                      static_cast<long long>(last), 3));
}

TARGET inline unsigned equal_in_half(const std::uint64_t* half, __m256i key) {
  const auto equal = _mm256_cmpeq_epi64(half_of(half), key);
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
}

TARGET inline unsigned equal_words(const std::uint64_t* line, std::uint64_t key) {
  constexpr auto half = line_words / 2;
  const auto wanted = _mm256_set1_epi64x(static_cast<long long>(key));
  return equal_in_half(line, wanted) | equal_in_half(line + half, wanted) << half;
}

#include "workloads/merge/cpu_rows_loops.hpp"

}  // namespace

RowCode avx2_rows() { return {upper_pieces, lower_pieces, scatter, find}; }

#else

RowCode avx2_rows() { return plain_rows(); }

#endif

}  // namespace ucxbench::merge
