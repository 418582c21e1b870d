#include "workloads/transpose/layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace ucxbench::transpose {
namespace {

const std::vector<Layout> small = {{1, 1, 1},  {1, 1, 3},  {7, 7, 2},  {10, 3, 1},
                                   {10, 3, 2}, {10, 3, 5}, {12, 3, 4}, {17, 2, 3},
                                   {9, 4, 16}, {64, 8, 5}, {65, 8, 3}, {100, 9, 7}};

TEST(Layout, GivesEveryRowToOneRank) {
  for (const auto& layout : small) {
    std::uint64_t chunk = 0;
    std::uint64_t rows = 0;
    for (std::uint64_t rank = 0; rank < layout.ranks; ++rank) {
      EXPECT_EQ(layout.first_chunk(rank), chunk);
      std::uint64_t own_rows = 0;
      for (; chunk < layout.first_chunk(rank + 1); ++chunk) {
        EXPECT_EQ(layout.rank_of(chunk), rank);
        own_rows += layout.extent(chunk);
      }
      EXPECT_EQ(layout.rows_of(rank), own_rows);
      EXPECT_LE(layout.own_chunks(rank), layout.chunks() / layout.ranks + 1);
      rows += own_rows;
    }
    EXPECT_EQ(chunk, layout.chunks());
    EXPECT_EQ(rows, layout.size);
  }
}

TEST(Layout, TilesLieOneBehindTheOther) {
  for (const auto& layout : small) {
    for (std::uint64_t rank = 0; rank < layout.ranks; ++rank) {
      std::uint64_t in_x = 0;
      std::uint64_t in_y = 0;
      for (auto i = layout.first_chunk(rank); i < layout.first_chunk(rank + 1); ++i) {
        for (std::uint64_t j = 0; j < layout.chunks(); ++j) {
          EXPECT_EQ(layout.place_in_x(i, j), in_x);
          EXPECT_EQ(layout.place_in_y(i, j), in_y);
          const auto tile = layout.tile(i, j);
          in_x += tile.elements();
          in_y += tile.rows * row_stride(tile.columns);
        }
      }
      EXPECT_EQ(layout.x_bytes(rank), in_x * sizeof(double));
      EXPECT_EQ(layout.y_bytes(rank), in_y * sizeof(double));
    }
  }
}

// Element by element: what (i, j) of one rank is needed by whom.
TEST(Cost, AgreesWithCountingElements) {
  for (const auto& layout : small) {
    const auto rank_of_row = [&](std::uint64_t row) { return layout.rank_of(row / layout.chunk); };
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> bytes;
    std::map<std::uint64_t, std::uint64_t> sent;
    std::map<std::pair<std::uint64_t, std::uint64_t>,
             std::set<std::pair<std::uint64_t, std::uint64_t>>>
        tiles;
    for (std::uint64_t i = 0; i < layout.size; ++i) {
      for (std::uint64_t j = 0; j < layout.size; ++j) {
        const std::pair pair = {rank_of_row(i), rank_of_row(j)};
        bytes[pair] += sizeof(double);
        tiles[pair].insert({i / layout.chunk, j / layout.chunk});
        if (pair.first != pair.second) sent[pair.first] += sizeof(double);
      }
    }
    for (std::uint64_t from = 0; from < layout.ranks; ++from) {
      std::uint64_t all_tiles = 0;
      for (std::uint64_t to = 0; to < layout.ranks; ++to) {
        const std::pair pair = {from, to};
        EXPECT_EQ(layout.bytes_between(from, to), bytes[pair]);
        EXPECT_EQ(layout.tiles_between(from, to), tiles[pair].size());
        if (to != from) all_tiles += tiles[pair].size();
      }
      EXPECT_EQ(layout.bytes_exchanged(from), sent[from]);
      EXPECT_EQ(layout.tiles_exchanged(from), all_tiles);
    }
  }
}

TEST(Cost, HoldsBeyondTwoToThe33Elements) {
  // 2^36 elements, and 2^52, of which nobody has the memory.
  for (const std::uint64_t width : {std::uint64_t{1} << 18U, std::uint64_t{1} << 26U}) {
    const Layout layout{width, width / 64, 8};
    std::uint64_t all = 0;
    for (std::uint64_t rank = 0; rank < 8; ++rank) all += layout.bytes_exchanged(rank);
    EXPECT_EQ(all, 8 * width * width / 8 * 7);
    EXPECT_EQ(layout.bytes_between(7, 0), 8 * width * width / 64);
    EXPECT_EQ(layout.place_in_x(63, 63),
              (width / 8 - width / 64) * width + width / 64 * 63 * width / 64);
    EXPECT_EQ(bytes_touched({0, 0, width, width}, true), 24 * width * width);
    EXPECT_EQ(bytes_touched({0, 0, width, width}, false), 16 * width * width);
    EXPECT_GT(bytes_needed(layout, true, false), 16 * width * width);
  }
  // And with edges that do not divide: 300,007² elements.
  const Layout odd{300'007, 7'001, 5};
  std::uint64_t all = 0;
  std::uint64_t kept = 0;
  for (std::uint64_t rank = 0; rank < 5; ++rank) {
    all += odd.bytes_exchanged(rank);
    kept += odd.bytes_between(rank, rank);
  }
  EXPECT_EQ(all + kept, 8 * odd.size * odd.size);
}

TEST(Memory, StaysWithinItsBound) {
  for (const Layout& layout :
       {Layout{4000, 1000, 3}, Layout{4000, 100, 16}, Layout{10'000, 2500, 2},
        Layout{5001, 2500, 2}, Layout{16'384, 4096, 4}}) {
    EXPECT_LE(bytes_needed(layout, true, true), 3.5 * 8 * layout.size * layout.size);
    EXPECT_LT(bytes_needed(layout, false, false), bytes_needed(layout, true, false));
  }
}

TEST(Memory, TheRingHasTwoTilesOrMoreButNeverMoreThanCome) {
  EXPECT_EQ(ring_slots({16'384, 4096, 2}, 0, false), 2);
  EXPECT_EQ(ring_slots({16'384, 4096, 2}, 0, true), 4);
  EXPECT_EQ(ring_slots({8192, 4096, 2}, 0, false), 1);
  EXPECT_EQ(ring_slots({16'384, 4096, 1}, 0, false), 0);
  EXPECT_EQ(ring_slots({16'384, 512, 2}, 0, false), 32);
}

}  // namespace
}  // namespace ucxbench::transpose
