#include "bench/pingpong/threads.hpp"

#include <gtest/gtest.h>

namespace ucxbench::pingpong {
namespace {

TEST(Threads, PartsAreWholePagesAndFit) {
  EXPECT_EQ(part_of_thread(100, 1), 100U);
  EXPECT_EQ(room_of_threads(100, 1), 100U);
  for (const std::size_t bytes : {0U, 1U, 4096U, 4097U, 1U << 20U}) {
    const auto part = part_of_thread(room_of_threads(bytes, 3), 3);
    EXPECT_GE(part, bytes);
    EXPECT_EQ(part % page_of_threads, 0U);
  }
}

TEST(Threads, OnlyWhatNoThreadDidAloneCounts) {
  // The second begins later, and the first ends earlier.
  EXPECT_EQ(overlapping_iterations(std::vector<std::uint64_t>{0, 10, 20, 31, 15, 20, 30, 42}, 2),
            (std::vector<std::uint64_t>{11, 5, 10}));
  EXPECT_TRUE(overlapping_iterations(std::vector<std::uint64_t>{0, 10, 20, 30}, 2).empty());
  EXPECT_EQ(overlapping_iterations(std::vector<std::uint64_t>{0, 10, 25}, 1),
            (std::vector<std::uint64_t>{10, 15}));
}

}  // namespace
}  // namespace ucxbench::pingpong
