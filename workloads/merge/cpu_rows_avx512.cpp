#if defined(__x86_64__)
// GCC 12 warns of the undefined operands inside this header (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include "workloads/merge/cpu_rows.hpp"
#include "workloads/merge/spread.hpp"

namespace ucxbench::merge {

#if defined(__x86_64__)
namespace {

// Clang would ignore the whole list for a word that it does not know.
#if defined(__clang__)
#define TARGET [[gnu::target("avx512f,avx512dq,avx512vl,bmi,bmi2")]]
#else
#define TARGET [[gnu::target("avx512f,avx512dq,avx512vl,bmi,bmi2,prefer-vector-width=512")]]
#endif

TARGET inline void stream_line(std::uint64_t* to, const Line& line, std::uint64_t last) {
  const auto words = _mm512_load_si512(line.words.data());
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to),
                      _mm512_mask_set1_epi64(words, 0x80, static_cast<long long>(last)));
}

TARGET inline unsigned equal_words(const std::uint64_t* line, std::uint64_t key) {
  return _mm512_cmpeq_epi64_mask(_mm512_load_si512(line),
                                 _mm512_set1_epi64(static_cast<long long>(key)));
}

#include "workloads/merge/cpu_rows_loops.hpp"

}  // namespace

RowCode avx512_rows() { return {upper_pieces, lower_pieces, scatter, find}; }

#else

RowCode avx512_rows() { return plain_rows(); }

#endif

}  // namespace ucxbench::merge
