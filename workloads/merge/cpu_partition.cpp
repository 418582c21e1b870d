#include "workloads/merge/cpu_partition.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "workloads/merge/cpu_hash.hpp"

namespace ucxbench::merge {
namespace {

constexpr std::size_t line_words = 8;       // 64 bytes
constexpr std::uint64_t block_rows = 2048;  // their bucket numbers stay in the first-level cache
constexpr std::uint64_t progress_rows = 16 * block_rows;  // some 100 µs

struct alignas(64) Line {
  std::array<std::uint64_t, line_words> words;
};

void store_line(std::uint64_t* to, const Line& line) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < line_words; i += 2) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(line.words.data() + i)));
  }
#else
  std::memcpy(to, line.words.data(), sizeof line);
#endif
}

// One column on its way to all buckets. `out` begins at a cache line, so that a word's place in
// its line follows from its index.
class Column {
 public:
  Column(std::vector<std::uint64_t> starts, std::uint64_t* out)
      : starts_(std::move(starts)), next_(starts_), lines_(starts_.size()), out_(out) {}

  void scatter(const std::uint64_t* values, const std::uint32_t* bucket, std::uint64_t rows) {
    for (std::uint64_t i = 0; i < rows; ++i) {
      const auto to = bucket[i];
      const auto at = next_[to]++;
      auto& line = lines_[to];
      line.words[at % line_words] = values[i];
      if (at % line_words == line_words - 1) store(to, at - (line_words - 1));
    }
  }

  void finish() {
    for (std::size_t to = 0; to < starts_.size(); ++to) {
      const auto end = next_[to];
      copy_part(to, end - end % line_words, end);
    }
#if defined(__x86_64__)
    _mm_sfence();
#endif
  }

 private:
  void store(std::size_t to, std::uint64_t first) {
    if (first >= starts_[to]) {
      store_line(out_ + first, lines_[to]);
    } else {
      copy_part(to, first, first + line_words);
    }
  }

  // A line that the bucket shares with its neighbour.
  void copy_part(std::size_t to, std::uint64_t first, std::uint64_t end) {
    for (auto at = std::max(first, starts_[to]); at < end; ++at) {
      out_[at] = lines_[to].words[at % line_words];
    }
  }

  std::vector<std::uint64_t> starts_, next_;
  std::vector<Line> lines_;
  std::uint64_t* out_;
};

template <typename Use>
void for_blocks(const Rows& table, const Spread& spread, const Kernels::Progress& progress,
                Use use) {
  std::array<std::uint32_t, block_rows> bucket;
  for (std::uint64_t first = 0; first < table.rows; first += block_rows) {
    const auto rows = std::min(block_rows, table.rows - first);
    find_buckets({table.words + first, rows}, spread, bucket.data());
    use(first, rows, bucket.data());
    if (first % progress_rows == 0) progress();
  }
}

}  // namespace

std::vector<std::uint64_t> count_buckets(const Rows& table, const Spread& spread,
                                         const Kernels::Progress& progress) {
  std::vector<std::uint64_t> counts(spread.buckets());
  for_blocks(table, spread, progress,
             [&](std::uint64_t, std::uint64_t rows, const std::uint32_t* bucket) {
               for (std::uint64_t i = 0; i < rows; ++i) ++counts[bucket[i]];
             });
  return counts;
}

void scatter_rows(const Rows& table, std::uint32_t columns, const Spread& spread,
                  const std::vector<std::uint64_t>& starts,
                  const std::vector<std::uint64_t>& strides, std::uint64_t* out,
                  const Kernels::Progress& progress) {
  std::vector<Column> all;
  for (std::uint32_t column = 0; column < columns; ++column) {
    auto own = starts;
    for (std::size_t bucket = 0; bucket < own.size(); ++bucket) {
      own[bucket] += column * strides[bucket / spread.parts];
    }
    all.emplace_back(std::move(own), out);
  }
  for_blocks(table, spread, progress,
             [&](std::uint64_t first, std::uint64_t rows, const std::uint32_t* bucket) {
               for (std::uint32_t column = 0; column < columns; ++column) {
                 all[column].scatter(table.words + column * table.stride + first, bucket, rows);
               }
             });
  for (auto& column : all) column.finish();
}

}  // namespace ucxbench::merge
