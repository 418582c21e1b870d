#include "workloads/merge/cpu_join.hpp"

#if defined(__x86_64__)
// GCC 12 warns of the undefined operands inside this header (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/failure.hpp"
#include "workloads/common/cpu.hpp"
#include "workloads/merge/cpu_hash.hpp"

namespace ucxbench::merge {
namespace {

// A chain that runs past the last slot goes on here instead of wrapping around; longer ones than
// this are as good as impossible at a load of one half, and are refused.
constexpr std::uint64_t overrun = 512;

[[noreturn]] void too_many() {
  throw Failure(Exit::wrong_data, "more rows match than the tables were made to give");
}

}  // namespace

LocalJoin::LocalJoin(std::uint32_t columns, std::uint64_t largest_build,
                     const Kernels::Allocate& allocate)
    : columns_(columns),
      capacity_(std::max<std::uint64_t>(2 * largest_build, 64)),
      memory_(allocate((capacity_ + overrun) * columns * sizeof(std::uint64_t))),
      words_(reinterpret_cast<std::uint64_t*>(memory_.data())),
      stride_(capacity_ + overrun),
      avx512_(has_avx512()) {}

void LocalJoin::build(std::span<const Rows> segments) {
  std::uint64_t rows = 0;
  for (const auto& segment : segments) rows += segment.rows;
  slots_ = std::max<std::uint64_t>(2 * rows, 64);
  if (slots_ > capacity_) {
    throw Failure(Exit::wrong_data,
                  fmt::format("a hash table must take {} rows, but {} were expected at most", rows,
                              capacity_ / 2));
  }
  std::fill(words_, words_ + slots_ + overrun, no_key);
  for (const auto& segment : segments) insert(segment);
}

void LocalJoin::insert(const Rows& segment) {
  for (std::uint64_t row = 0; row < segment.rows; ++row) {
    const auto key = segment.words[row];
    auto slot = slot_of(hash_of(key), slots_);
    while (words_[slot] != no_key) ++slot;
    // The last word stays empty, so that every probe ends.
    if (slot + 1 >= slots_ + overrun) too_many();
    for (std::uint32_t column = 0; column < columns_; ++column) {
      words_[column * stride_ + slot] = segment.words[column * segment.stride + row];
    }
  }
}

void LocalJoin::probe(const Rows& segment, Joined& out) const {
  // As many matches as rows; only then need the loops not look at the end again.
  if (out.rows + segment.rows + Joined::slack > out.capacity) {
    Joined rest = out;
    probe_plain(segment, 0, rest);
    out.rows = rest.rows;
    return;
  }
  avx512_ ? probe_avx512(segment, out) : probe_plain(segment, 0, out);
}

void LocalJoin::probe_plain(const Rows& segment, std::uint64_t from, Joined& out) const {
  for (auto row = from; row < segment.rows; ++row) {
    const auto key = segment.words[row];
    auto slot = slot_of(hash_of(key), slots_);
    while (words_[slot] != key && words_[slot] != no_key) ++slot;
    if (words_[slot] != key) continue;
    if (out.rows == out.capacity) too_many();
    auto* to = out.words + out.rows++;
    *to = key;
    for (std::uint32_t column = 1; column < columns_; ++column) {
      to[column * out.capacity] = words_[column * stride_ + slot];
      to[(columns_ - 1 + column) * out.capacity] = segment.words[column * segment.stride + row];
    }
  }
}

#if defined(__x86_64__)

// Eight rows at a time; those whose chain is longer go on with the next slot together.
[[gnu::target("avx512f,avx512dq,avx512vl")]] void LocalJoin::probe_avx512(const Rows& segment,
                                                                          Joined& out) const {
  const auto empty = _mm512_set1_epi64(static_cast<long long>(no_key));
  const auto slots = _mm512_set1_epi64(static_cast<long long>(slots_));
  const auto low = _mm512_set1_epi64(0xffffffff);
  const auto salt = _mm512_set1_epi64(static_cast<long long>(0x9e3779b97f4a7c15U));
  const auto first = _mm512_set1_epi64(static_cast<long long>(0xbf58476d1ce4e5b9U));
  const auto second = _mm512_set1_epi64(static_cast<long long>(0x94d049bb133111ebU));
  const auto one = _mm512_set1_epi64(1);
  const auto payloads = columns_ - 1;
  std::uint64_t row = 0;
  for (; row + 8 <= segment.rows; row += 8) {
    const auto key = _mm512_loadu_si512(segment.words + row);
    auto hash = _mm512_add_epi64(key, salt);
    hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 30)), first);
    hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 27)), second);
    hash = _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 31));
    auto slot = _mm512_srli_epi64(_mm512_mullo_epi64(_mm512_and_si512(hash, low), slots), 32);
    __mmask8 open = 0xff;
    __mmask8 found = 0;
    while (open != 0) {
      const auto there = _mm512_mask_i64gather_epi64(empty, open, slot, words_, 8);
      const auto equal = _mm512_mask_cmpeq_epi64_mask(open, there, key);
      found |= equal;
      open &= static_cast<__mmask8>(~equal & ~_mm512_cmpeq_epi64_mask(there, empty));
      slot = _mm512_mask_add_epi64(slot, open, slot, one);
    }
    auto* to = out.words + out.rows;
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(found, key));
    for (std::uint32_t column = 1; column <= payloads; ++column) {
      const auto built =
          _mm512_mask_i64gather_epi64(empty, found, slot, words_ + column * stride_, 8);
      const auto probed = _mm512_loadu_si512(segment.words + column * segment.stride + row);
      _mm512_storeu_si512(to + column * out.capacity, _mm512_maskz_compress_epi64(found, built));
      _mm512_storeu_si512(to + (payloads + column) * out.capacity,
                          _mm512_maskz_compress_epi64(found, probed));
    }
    out.rows += static_cast<std::uint64_t>(__builtin_popcount(found));
  }
  probe_plain(segment, row, out);
}

#else

void LocalJoin::probe_avx512(const Rows& segment, Joined& out) const {
  probe_plain(segment, 0, out);
}

#endif

}  // namespace ucxbench::merge
