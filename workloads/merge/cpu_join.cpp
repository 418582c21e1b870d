#include "workloads/merge/cpu_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/failure.hpp"
#include "workloads/merge/cpu_blocks.hpp"

namespace ucxbench::merge {
namespace {

constexpr std::uint64_t rows_per_line = line_words / 2;

// Of few processors that have AVX2 it is smaller, and lines that are there already cost little to
// be fetched.
constexpr std::uint64_t second_level_bytes = std::uint64_t{1} << 20U;

// Rows that find no room in the last line go on here instead of wrapping around; as good as
// impossible at a load of one half, more are refused.
constexpr std::uint64_t overrun = 64;

std::uint64_t lines_for(std::uint64_t rows) { return rows / rows_per_line + 1; }

}  // namespace

LocalJoin::LocalJoin(const RowCode& code, std::uint32_t columns, std::uint64_t largest_build,
                     const Kernels::Allocate& allocate, Kernels::Progress progress)
    : code_(code),
      progress_(std::move(progress)),
      most_lines_(lines_for(largest_build)),
      memory_(allocate((most_lines_ + overrun) * columns * sizeof(Line))),
      filled_(most_lines_ + overrun),
      table_{.columns = columns,
             .words = reinterpret_cast<std::uint64_t*>(memory_.data()),
             .filled = filled_.data()} {}

void LocalJoin::build(std::span<const Rows> segments) {
  std::uint64_t rows = 0;
  for (const auto& segment : segments) rows += segment.rows;
  lines_ = lines_for(rows);
  if (lines_ > most_lines_) {
    throw Failure(Exit::wrong_data,
                  fmt::format("a hash table must take {} rows, but {} were expected at most", rows,
                              (most_lines_ - 1) * rows_per_line));
  }
  std::fill_n(table_.filled, lines_ + overrun, 0);
  for (const auto& segment : segments) {
    for_blocks(segment, progress_, [&](const Rows& block) { insert(block); });
  }
}

void LocalJoin::insert(const Rows& block) {
  std::array<std::uint32_t, block_rows> line;
  code_.lower_pieces(block.words, block.rows, lines_, line.data());
  const bool beyond_cache = lines_ * table_.columns * sizeof(Line) > second_level_bytes;
  for (std::uint64_t row = 0; row < block.rows; ++row) {
    if (beyond_cache && row + lines_ahead < block.rows) {
      const auto* soon = table_.words + line[row + lines_ahead] * table_.columns * line_words;
      for (std::uint32_t column = 0; column < table_.columns; ++column) {
        __builtin_prefetch(soon + column * line_words, 1);
      }
    }
    std::uint64_t at = line[row];
    while (table_.filled[at] >= line_words) {
      table_.filled[at] = line_words + 1;
      if (++at == lines_ + overrun) {
        throw Failure(Exit::wrong_data, "too many keys of the build table are alike");
      }
    }
    auto* to = table_.words + at * table_.columns * line_words + table_.filled[at]++;
    for (std::uint32_t column = 0; column < table_.columns; ++column) {
      to[column * line_words] = block.words[column * block.stride + row];
    }
  }
}

void LocalJoin::probe(const Rows& segment, Joined& out) {
  std::array<std::uint32_t, block_rows> line;
  for_blocks(segment, progress_, [&](const Rows& block) {
    code_.lower_pieces(block.words, block.rows, lines_, line.data());
    code_.find(table_, block.words, line.data(), block.rows, matches_);
    write(block, out);
  });
}

void LocalJoin::write(const Rows& block, Joined& out) const {
  const auto found = matches_.rows;
  if (found > out.capacity - out.rows) {
    throw Failure(Exit::wrong_data, "more rows match than the tables were made to give");
  }
  auto* to = out.words + out.rows;
  for (std::uint64_t i = 0; i < found; ++i) to[i] = block.words[matches_.row[i]];
  for (std::uint32_t column = 1; column < table_.columns; ++column) {
    to += out.capacity;
    const auto* payload = table_.words + column * line_words;
    for (std::uint64_t i = 0; i < found; ++i) to[i] = payload[matches_.place[i]];
  }
  for (std::uint32_t column = 1; column < table_.columns; ++column) {
    to += out.capacity;
    const auto* payload = block.words + column * block.stride;
    for (std::uint64_t i = 0; i < found; ++i) to[i] = payload[matches_.row[i]];
  }
  out.rows += found;
}

}  // namespace ucxbench::merge
