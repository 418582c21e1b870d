#include "workloads/merge/cpu_join.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "workloads/merge/cpu_blocks.hpp"
#include "workloads/merge/cpu_partition.hpp"

namespace ucxbench::merge {
namespace {

constexpr std::uint64_t rows_per_line = line_words / 2;

// So many lines after its own a row looks for room, in the last of them beyond the table instead of
// wrapping around. To find none is as good as impossible at a load of one half with keys that
// differ: wrong ones have come then, which verification names, and the row is left out.
constexpr std::uint64_t overrun = 64;

std::uint64_t whole_lines(std::uint64_t rows) {
  return (rows + line_words - 1) / line_words * line_words;
}

std::uint64_t rows_of(std::span<const Rows> segments) {
  return std::accumulate(segments.begin(), segments.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Rows& rows) { return sum + rows.rows; });
}

}  // namespace

LocalJoin::LocalJoin(const RowCode& code, std::uint32_t columns, std::uint64_t largest_build,
                     const Kernels::Allocate& allocate, Kernels::Progress progress,
                     std::uint64_t once)
    : code_(code),
      progress_(std::move(progress)),
      columns_(columns),
      most_rows_(largest_build),
      once_(once),
      memory_(allocate(bytes_of(lines_for(largest_build) + overrun))),
      filled_(lines_for(largest_build) + overrun),
      table_{.columns = columns,
             .words = reinterpret_cast<std::uint64_t*>(memory_.data()),
             .filled = filled_.data()} {
  if (regions_for(largest_build) == 1) return;
  scratch_.emplace(allocate(whole_lines(largest_build) * columns * sizeof(std::uint64_t)));
}

std::uint64_t LocalJoin::bytes_of(std::uint64_t lines) const {
  return lines * columns_ * sizeof(Line);
}

std::uint64_t LocalJoin::regions_for(std::uint64_t rows) const {
  const auto bytes = bytes_of(rows / rows_per_line + 1);
  return bytes > once_ ? (bytes + cache_bytes - 1) / cache_bytes : 1;
}

// As many for each region.
std::uint64_t LocalJoin::lines_for(std::uint64_t rows) const {
  const auto regions = regions_for(rows);
  return (rows / rows_per_line + regions) / regions * regions;
}

void LocalJoin::build(std::span<const Rows> segments) {
  if (rows_of(segments) > most_rows_) segments = {};
  const auto rows = rows_of(segments);
  regions_ = regions_for(rows);
  lines_ = lines_for(rows);
  std::fill_n(table_.filled, lines_ + overrun, 0);
  by_region(segments, [this](const Rows& rows_there) {
    for_blocks(rows_there, progress_, [this](const Rows& block) { insert(block); });
  });
}

// The region's number is the upper part of the line's.
template <typename Use>
void LocalJoin::by_region(std::span<const Rows> segments, Use use) {
  if (regions_ == 1) {
    for (const auto& segment : segments) use(segment);
    return;
  }
  // As many at a time as the scratch memory takes.
  std::vector<Rows> taken;
  auto room = most_rows_;
  const auto use_taken = [&] {
    for (const auto& region : partitioned(taken)) use(region);
    taken.clear();
    room = most_rows_;
  };
  for (auto rest : segments) {
    while (rest.rows > room) {
      taken.push_back({rest.words, room, rest.stride});
      rest = {rest.words + room, rest.rows - room, rest.stride};
      use_taken();
    }
    taken.push_back(rest);
    room -= rest.rows;
  }
  use_taken();
}

std::vector<Rows> LocalJoin::partitioned(std::span<const Rows> segments) {
  auto* const out = reinterpret_cast<std::uint64_t*>(scratch_->data());
  const Pieces pieces{code_.lower_pieces, regions_};
  const auto stride = whole_lines(rows_of(segments));
  std::vector<std::uint64_t> counts(regions_);
  std::vector<std::uint32_t> region_of(rows_of(segments));
  auto* region_of_row = region_of.data();
  for (const auto& segment : segments) {
    count_rows(segment, pieces, progress_, counts, region_of_row);
    region_of_row += segment.rows;
  }
  std::vector<std::uint64_t> starts(regions_);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::uint64_t{0});
  Scatter scatter(code_, columns_, starts, std::vector(regions_, stride), out);
  region_of_row = region_of.data();
  for (const auto& segment : segments) {
    scatter.add(segment, region_of_row, progress_);
    region_of_row += segment.rows;
  }
  scatter.finish();
  std::vector<Rows> regions;
  for (std::size_t region = 0; region < regions_; ++region) {
    regions.push_back({out + starts[region], counts[region], stride});
  }
  return regions;
}

void LocalJoin::insert(const Rows& block) {
  std::array<std::uint32_t, block_rows> line;
  code_.lower_pieces(block.words, block.rows, lines_, line.data());
  // Lines that are near cost more to be fetched than they gain.
  const bool beyond_cache = regions_ == 1 && bytes_of(lines_) > 2 * cache_bytes;
  for (std::uint64_t row = 0; row < block.rows; ++row) {
    if (beyond_cache && row + lines_ahead < block.rows) {
      const auto* soon = table_.words + line[row + lines_ahead] * columns_ * line_words;
      for (std::uint32_t column = 0; column < columns_; ++column) {
        __builtin_prefetch(soon + column * line_words, 1);
      }
    }
    std::uint64_t at = line[row];
    const auto last = at + overrun;
    while (table_.filled[at] >= line_words && at != last) table_.filled[at++] = line_words + 1;
    if (table_.filled[at] >= line_words) continue;
    auto* to = table_.words + at * columns_ * line_words + table_.filled[at]++;
    for (std::uint32_t column = 0; column < columns_; ++column) {
      to[column * line_words] = block.words[column * block.stride + row];
    }
  }
}

void LocalJoin::probe(std::span<const Rows> segments, Joined& out) {
  std::array<std::uint32_t, block_rows> line;
  by_region(segments, [&](const Rows& rows) {
    for_blocks(rows, progress_, [&](const Rows& block) {
      code_.lower_pieces(block.words, block.rows, lines_, line.data());
      code_.find(table_, block.words, line.data(), block.rows, matches_);
      write(block, out);
    });
  });
}

void LocalJoin::write(const Rows& block, Joined& out) const {
  const auto found = matches_.rows;
  if (found > out.capacity - out.rows) return;
  auto* to = out.words + out.rows;
  for (std::uint64_t i = 0; i < found; ++i) to[i] = block.words[matches_.row[i]];
  for (std::uint32_t column = 1; column < columns_; ++column) {
    to += out.capacity;
    const auto* payload = table_.words + column * line_words;
    for (std::uint64_t i = 0; i < found; ++i) to[i] = payload[matches_.place[i]];
  }
  for (std::uint32_t column = 1; column < columns_; ++column) {
    to += out.capacity;
    const auto* payload = block.words + column * block.stride;
    for (std::uint64_t i = 0; i < found; ++i) to[i] = payload[matches_.row[i]];
  }
  out.rows += found;
}

}  // namespace ucxbench::merge
