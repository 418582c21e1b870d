#include "workloads/merge/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench::merge {
namespace {

std::uint64_t rows_of(Parameters asked, int ranks) {
  asked.ranks = ranks;
  settle(asked);
  return asked.rows;
}

TEST(Scaling, StrongDividesTheRows) {
  Parameters whole;
  whole.rows = 1000;
  EXPECT_EQ(rows_of(whole, 4), 1000U);
  whole.scaling = Scaling::strong;
  EXPECT_EQ(rows_of(whole, 4), 250U);
  EXPECT_EQ(rows_of(whole, 3), 333U);
  EXPECT_THROW(rows_of(whole, 1001), Failure);
  whole.scaling = Scaling::weak;
  EXPECT_EQ(rows_of(whole, 1001), 1000U);
}

TEST(Cost, HoldsBeyondTwoToThe33Rows) {
  Parameters p;
  p.rows = std::uint64_t{1} << 33U;
  EXPECT_EQ(input_bytes(p), std::uint64_t{32} << 33U);
  // Tables and their partitioned copies, three quarters of them once more, 24 bytes a match, and
  // 4 for a bucket's number.
  p.frac_match = 0.5;
  p.ranks = 4;
  EXPECT_EQ(memory_bytes(p), (std::uint64_t{88} << 33U) + (std::uint64_t{16} << 33U));
}

}  // namespace
}  // namespace ucxbench::merge
