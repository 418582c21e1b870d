#include "harness/run/clock_watch.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

TEST(ClockWatch, BelievesAClockThatIsRight) {
  const auto clock = Clock::calibrate();
  EXPECT_FALSE(ClockWatch(clock).doubt());
}

TEST(ClockWatch, DoubtsRanksThatDifferByMoreThanAThousandth) {
  EXPECT_FALSE(doubt_between(1e9, 1.0009e9, 0, 1));
  const auto doubt = doubt_between(1e9, 1.1e9, 3, 4);
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->fault, ClockFault::other_rank);
  EXPECT_NE(in_words(*doubt).find("ranks 3 and 4"), std::string::npos);
}

}  // namespace
}  // namespace ucxbench
