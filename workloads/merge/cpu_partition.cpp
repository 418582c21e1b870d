#include "workloads/merge/cpu_partition.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>

#include "workloads/merge/cpu_blocks.hpp"

namespace ucxbench::merge {
namespace {

template <typename Use>
void for_bucketed(const RowCode& code, const Rows& table, const Spread& spread,
                  const Kernels::Progress& progress, Use use) {
  std::array<std::uint32_t, block_rows> bucket;
  for_blocks(table, progress, [&](const Rows& block) {
    code.upper_pieces(block.words, block.rows, spread.buckets(), bucket.data());
    use(block, bucket.data());
  });
}

// What has filled no line.
void store_rest(const Scattering& scattering, std::size_t bucket) {
  const auto* lines = scattering.lines + bucket * scattering.columns;
  const auto end = lines->words[line_words - 1];
  for (std::uint32_t column = 0; column < scattering.columns; ++column) {
    auto* out = scattering.out + column * scattering.strides[bucket];
    for (auto at = std::max(end - end % line_words, scattering.starts[bucket]); at < end; ++at) {
      out[at] = lines[column].words[at % line_words];
    }
  }
}

}  // namespace

std::vector<std::uint64_t> count_buckets(const RowCode& code, const Rows& table,
                                         const Spread& spread, const Kernels::Progress& progress) {
  std::vector<std::uint64_t> counts(spread.buckets());
  for_bucketed(code, table, spread, progress, [&](const Rows& block, const std::uint32_t* bucket) {
    for (std::uint64_t i = 0; i < block.rows; ++i) ++counts[bucket[i]];
  });
  return counts;
}

void scatter_rows(const RowCode& code, const Rows& table, std::uint32_t columns,
                  const Spread& spread, const std::vector<std::uint64_t>& starts,
                  const std::vector<std::uint64_t>& strides, std::uint64_t* out,
                  const Kernels::Progress& progress) {
  std::vector<Line> lines(std::size_t{spread.buckets()} * columns);
  std::vector<std::uint64_t> strides_of_buckets;
  for (std::size_t bucket = 0; bucket < starts.size(); ++bucket) {
    lines[bucket * columns].words[line_words - 1] = starts[bucket];
    strides_of_buckets.push_back(strides[bucket / spread.parts]);
  }
  const Scattering scattering{.columns = columns,
                              .out = out,
                              .starts = starts.data(),
                              .strides = strides_of_buckets.data(),
                              .lines = lines.data()};
  for_bucketed(code, table, spread, progress, [&](const Rows& block, const std::uint32_t* bucket) {
    code.scatter(scattering, block, bucket);
  });
  for (std::size_t bucket = 0; bucket < starts.size(); ++bucket) store_rest(scattering, bucket);
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace ucxbench::merge
