#include "workloads/merge/spread.hpp"

#include <algorithm>
#include <numeric>

namespace ucxbench::merge {

std::vector<Block> blocks_of(const Spread& spread, const std::vector<std::uint64_t>& bucket_rows) {
  std::vector<Block> blocks(spread.blocks());
  std::uint64_t row = 0;
  for (std::uint32_t block = 0; block < spread.blocks(); ++block) {
    const auto first = bucket_rows.begin() + std::ptrdiff_t{block} * spread.parts;
    blocks[block] = {row, std::accumulate(first, first + spread.parts, std::uint64_t{0})};
    row += blocks[block].stride();
  }
  return blocks;
}

std::uint64_t room_of(const std::vector<Block>& blocks) {
  return blocks.empty() ? 0 : blocks.back().first_row + blocks.back().stride();
}

std::vector<std::uint64_t> bucket_words(const Spread& spread,
                                        const std::vector<std::uint64_t>& bucket_rows,
                                        std::uint32_t columns) {
  const auto blocks = blocks_of(spread, bucket_rows);
  std::vector<std::uint64_t> words(spread.buckets());
  for (std::uint32_t block = 0; block < spread.blocks(); ++block) {
    auto word = blocks[block].first_word(columns);
    for (std::uint32_t part = 0; part < spread.parts; ++part) {
      const auto bucket = std::size_t{block} * spread.parts + part;
      words[bucket] = word;
      word += bucket_rows[bucket];
    }
  }
  return words;
}

Spread spread_for(std::uint32_t ranks, std::uint32_t batches, std::uint64_t rows,
                  std::uint32_t most_buckets, std::uint64_t part_rows) {
  Spread spread{.ranks = ranks, .batches = batches, .parts = 1};
  const auto wanted = rows / part_rows / batches + 1;
  const auto allowed = std::max<std::uint64_t>(most_buckets / spread.blocks(), 1);
  spread.parts = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, allowed));
  return spread;
}

std::uint64_t bytes_to_exchange(std::uint64_t ranks, std::uint64_t rows, std::uint32_t columns) {
  return 2 * rows * columns * sizeof(std::uint64_t) * (ranks - 1);
}

}  // namespace ucxbench::merge
