#include "workloads/merge/spread.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace ucxbench::merge {
namespace {

TEST(Spread, NumbersBucketsRankByRank) {
  const Spread spread{.ranks = 3, .batches = 2, .parts = 5};
  EXPECT_EQ(spread.buckets(), 30U);
  EXPECT_EQ(spread.bucket_of(0), 0U);
  EXPECT_EQ(spread.bucket_of(~std::uint64_t{0}), 29U);
  EXPECT_EQ(spread.rank_of(9), 0U);
  EXPECT_EQ(spread.rank_of(10), 1U);
  EXPECT_EQ(spread.rank_of(29), 2U);
}

TEST(Spread, FillsBucketsEvenly) {
  const Spread spread{.ranks = 3, .batches = 1, .parts = 7};
  std::vector<int> rows(spread.buckets());
  for (std::uint64_t key = 0; key < 210'000; ++key) ++rows[spread.bucket_of(hash_of(key))];
  for (const auto count : rows) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Blocks, HoldTheirBucketsColumnAfterColumn) {
  const Spread spread{.ranks = 2, .batches = 1, .parts = 2};
  const std::vector<std::uint64_t> rows = {3, 1, 0, 5};
  const auto blocks = blocks_of(spread, rows);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].rows, 4U);
  EXPECT_EQ(blocks[1].first_row, 8U);
  EXPECT_EQ(blocks[1].rows, 5U);
  EXPECT_EQ(room_of(blocks), 16U);
  // Three columns of a cache line each; a part begins behind the rows of the one before it.
  EXPECT_EQ(blocks[0].words(3), 20U);
  EXPECT_EQ(bucket_words(spread, rows, 3), (std::vector<std::uint64_t>{0, 3, 24, 24}));
}

TEST(Blocks, OfNoRowsTakeNoRoom) {
  const auto blocks = blocks_of({.ranks = 2, .batches = 1, .parts = 1}, {0, 0});
  EXPECT_EQ(room_of(blocks), 0U);
  EXPECT_EQ(blocks[0].words(3), 0U);
}

TEST(Blocks, CountBeyond32Bits) {
  const Spread spread{.ranks = 4, .batches = 2, .parts = 1};
  const std::vector<std::uint64_t> rows(8, std::uint64_t{1} << 33U);
  const auto blocks = blocks_of(spread, rows);
  EXPECT_EQ(blocks[7].first_row, std::uint64_t{7} << 33U);
  EXPECT_EQ(blocks[7].first_word(3), 3 * (std::uint64_t{7} << 33U));
  EXPECT_EQ(bucket_words(spread, rows, 3)[7], 3 * (std::uint64_t{7} << 33U));
}

TEST(SpreadFor, MakesPartsThatFitACache) {
  EXPECT_EQ(spread_for(1, 1, 1000, 1024, 16384).parts, 1U);
  const auto large = spread_for(2, 4, 10'000'000, 1024, 16384);
  EXPECT_LE(large.buckets(), 1024U);
  EXPECT_GT(large.parts, 100U);
  EXPECT_EQ(spread_for(2048, 4, 10'000'000, 1024, 16384).parts, 1U);
  EXPECT_EQ(spread_for(2, 1, std::uint64_t{1} << 33U, 1024, 16384).parts, 512U);
}

// Every row of every rank, counted one by one.
TEST(BytesToExchange, AreThoseThatBruteForceCounts) {
  const std::uint64_t ranks = 3;
  const std::uint64_t rows = 20'000;
  const Spread spread{.ranks = 3, .batches = 1, .parts = 1};
  constexpr std::uint64_t row_bytes = std::uint64_t{3} * 8;
  std::uint64_t crossing = 0;
  for (std::uint64_t row = 0; row < 2 * ranks * rows; ++row) {
    if (spread.rank_of(spread.bucket_of(hash_of(row))) != row % ranks) crossing += row_bytes;
  }
  const auto expected = bytes_to_exchange(ranks, rows, 3);
  EXPECT_NEAR(static_cast<double>(crossing), static_cast<double>(expected), 0.01 * expected);
  EXPECT_EQ(bytes_to_exchange(1, rows, 3), 0U);
  EXPECT_EQ(bytes_to_exchange(9, std::uint64_t{1} << 33U, 2), (std::uint64_t{1} << 33U) * 256);
}

}  // namespace
}  // namespace ucxbench::merge
