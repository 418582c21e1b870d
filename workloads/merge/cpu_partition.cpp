#include "workloads/merge/cpu_partition.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <utility>

#include "workloads/merge/cpu_blocks.hpp"

namespace ucxbench::merge {

void count_rows(const Rows& rows, const Pieces& pieces, const Kernels::Progress& progress,
                std::vector<std::uint64_t>& counts, std::uint32_t* piece) {
  for_blocks(rows, progress, [&](const Rows& block) {
    pieces.find(block.words, block.rows, pieces.count, piece);
    for (std::uint64_t i = 0; i < block.rows; ++i) ++counts[piece[i]];
    piece += block.rows;
  });
}

Scatter::Scatter(const RowCode& code, std::uint32_t columns, std::vector<std::uint64_t> starts,
                 std::vector<std::uint64_t> strides, std::uint64_t* out)
    : code_(code),
      starts_(std::move(starts)),
      strides_(std::move(strides)),
      lines_(starts_.size() * columns),
      scattering_{.columns = columns,
                  .out = out,
                  .starts = starts_.data(),
                  .strides = strides_.data(),
                  .lines = lines_.data()} {
  for (std::size_t piece = 0; piece < starts_.size(); ++piece) {
    lines_[piece * columns].words[line_words - 1] = starts_[piece];
  }
}

void Scatter::add(const Rows& rows, const std::uint32_t* piece, const Kernels::Progress& progress) {
  for_blocks(rows, progress, [&](const Rows& block) {
    code_.scatter(scattering_, block, piece);
    piece += block.rows;
  });
}

void Scatter::finish() {
  for (std::size_t piece = 0; piece < starts_.size(); ++piece) {
    const auto* lines = lines_.data() + piece * scattering_.columns;
    const auto end = lines->words[line_words - 1];
    const auto begin = std::max(end - end % line_words, starts_[piece]);
    for (std::uint32_t column = 0; column < scattering_.columns; ++column) {
      auto* out = scattering_.out + column * strides_[piece];
      for (auto at = begin; at < end; ++at) out[at] = lines[column].words[at % line_words];
    }
  }
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace ucxbench::merge
