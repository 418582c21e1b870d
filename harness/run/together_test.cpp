#include "harness/run/together.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace ucxbench {
namespace {

// In a millisecond from `begin` to `end`, bytes at 1 GB/s.
Span span(double begin, double end, double earlier = 0) {
  const auto at = [earlier](double ms) {
    return Moment{.earliest_ns = (ms - earlier) * 1e6, .latest_ns = ms * 1e6};
  };
  return {.begin = at(begin), .end = at(end), .bytes = (end - begin) * 1e6};
}

TEST(Together, StreamsThatDidNotOverlapHaveNoSum) {
  EXPECT_EQ(together_of(std::vector{span(0, 10), span(0, 10)}).GBps(), 2.0);
  // One after the other, each 1 GB/s: never 2.
  const auto one_by_one = together_of(std::vector{span(0, 10), span(10, 20)});
  EXPECT_EQ(one_by_one.GBps(), std::nullopt);
  EXPECT_EQ(one_by_one.common_ns, 0);
  EXPECT_EQ(one_by_one.span_ns, 20e6);
  // A third stream that covers both does not help, nor does an overlap of a half.
  EXPECT_EQ(together_of(std::vector{span(0, 10), span(10, 20), span(0, 20)}).GBps(), std::nullopt);
  EXPECT_EQ(together_of(std::vector{span(0, 15), span(5, 20)}).GBps(), std::nullopt);
  // Nor one of 79 %; 80 % are enough.
  EXPECT_EQ(together_of(std::vector{span(0, 9), span(1.1, 10)}).GBps(), std::nullopt);
  EXPECT_NE(together_of(std::vector{span(0, 9), span(1, 10)}).GBps(), std::nullopt);
}

TEST(Together, IsNeverMoreThanWhatWasCarriedInTheWholeSpan) {
  const auto all = together_of(std::vector{span(0, 9), span(1, 10)});
  EXPECT_EQ(all.common_ns, 8e6);
  EXPECT_NEAR(all.GBps().value_or(0), 1.8, 1e-9);
}

TEST(Together, OfSeveralClocksIsTakenAtItsWorst) {
  // Either may have been up to 1 ms earlier: together 8 to 10 ms of 10 to 11.
  const auto far = together_of(std::vector{span(0, 10, 1), span(0, 10, 1)});
  EXPECT_EQ(far.common_ns, 9e6);
  EXPECT_EQ(far.span_ns, 11e6);
  EXPECT_NEAR(far.GBps().value_or(0), 20.0 / 11, 1e-9);
  EXPECT_EQ(together_of(std::vector{span(0, 10, 2), span(0, 10, 2)}).GBps(), std::nullopt);
}

// A sender that begins 3 ms after it has left the meeting, and a receiver that was in it for 1 ms
// and ends 9 ms after it came. Its clock is 100 s ahead.
TEST(TimeAxis, KnowsALeastBeginAndAGreatestEndOfClocksThatDiffer) {
  constexpr std::uint64_t ms = 1'000'000;
  const Met sender{.came_ns = 20 * ms, .left_ns = 22 * ms};
  const Met receiver{.came_ns = 100'021 * ms, .left_ns = 100'022 * ms};
  const TimeAxis axis(false, std::array{sender, receiver});
  const auto begin = axis.at(25 * ms, sender);
  const auto end = axis.at(100'030 * ms, receiver);
  EXPECT_EQ(begin.earliest_ns, 3e6);
  EXPECT_EQ(end.latest_ns, 9e6);
  const auto all = together_of(std::vector{Span{.begin = begin, .end = end}});
  EXPECT_EQ(all.span_ns, 6e6);
}

TEST(TimeAxis, OfOneClockIsThatClock) {
  const Met sender{.came_ns = 20, .left_ns = 22};
  const Met receiver{.came_ns = 5, .left_ns = 22};
  const TimeAxis axis(true, std::array{sender, receiver});
  EXPECT_EQ(axis.at(15, receiver).earliest_ns, -5);
  EXPECT_EQ(axis.at(15, receiver).latest_ns, -5);
}

// The receiver's clock is 3 behind the sender's: it would have left before the sender came.
TEST(TimeAxis, OfOneIdentityMayBeOfTwoClocks) {
  const Met sender{.came_ns = 20, .left_ns = 22};
  const Met receiver{.came_ns = 15, .left_ns = 19};
  const TimeAxis axis(true, std::array{sender, receiver});
  EXPECT_EQ(axis.at(25, sender).earliest_ns, 3);
  EXPECT_EQ(axis.at(25, receiver).latest_ns, 10);
}

}  // namespace
}  // namespace ucxbench
