#include "bench/pingpong/measure.hpp"

#include <gtest/gtest.h>

namespace ucxbench::pingpong {
namespace {

TEST(Iterations, FollowFromTheTime) {
  EXPECT_EQ(iterations_in(0.25, 1.0 / 1024), 256U);
  EXPECT_EQ(iterations_in(25, 1.0 / 1024), 25'600U);
}

TEST(Iterations, AreAFewAtLeast) {
  EXPECT_EQ(iterations_in(1e-6, 1e-5), 8U);
  EXPECT_EQ(iterations_in(0.01, 0.2), 2U);
}

// As where the clock saw nothing.
TEST(Iterations, HaveAnEnd) { EXPECT_EQ(iterations_in(1e6, 0), iterations_in(1e9, 0)); }

}  // namespace
}  // namespace ucxbench::pingpong
