#include "workloads/common/two_ends.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

// Received by a rank whose receive was posted at `posted` and over at `came`, both of 100 bytes.
TwoEnds received(std::uint64_t posted, std::uint64_t came, std::uint64_t sent_earliest,
                 std::uint64_t sent_latest) {
  return {
      .own = {.posted_ns = posted, .completed_ns = came, .bytes = 100, .kind = Transfer::receive},
      .other_earliest_ns = sent_earliest,
      .other_latest_ns = sent_latest};
}
TwoEnds received(std::uint64_t posted, std::uint64_t came, std::uint64_t sent) {
  return received(posted, came, sent, sent);
}

TEST(TwoEnds, AreUnderWayFromWhenBothAreReady) {
  const auto begin = [](const TwoEnds& of) { return of.under_way().begin_ns; };
  EXPECT_EQ(begin(received(10, 60, 40)), 40U) << "the receiver waits for the sender";
  EXPECT_EQ(begin(received(40, 60, 10)), 40U) << "the sender waits for the receiver";
  EXPECT_EQ(begin(received(10, 60, 30, 50)), 30U) << "this long at most";
  EXPECT_EQ(begin({.own = {.posted_ns = 10, .completed_ns = 60}}), 10U) << "nothing is known";
  const auto early = received(10, 40, 50);
  EXPECT_EQ(early.under_way().begin_ns, early.under_way().end_ns) << "clocks that differ";
}

TEST(TimedMessages, AreUnderWayFromTheirSendingToTheirEnd) {
  TimedMessages timed;
  timed.add(received(10, 60, 40));
  timed.add(received(20, 70, 50));  // while the first one is
  timed.add(received(80, 100, 90));
  EXPECT_EQ(timed.bytes(), 300U);
  EXPECT_EQ(timed.messages(), 3U);
  EXPECT_NEAR(timed.goodput_GBps(0.1).value_or(0), 7.5, 1e-9);
  EXPECT_EQ(timed.quartiles_GBps(0.1), (std::vector<double>{5, 5, 7.5}));
  EXPECT_NEAR(timed.delivery_us().value_or(0), 0.02, 1e-9);
  EXPECT_FALSE(timed.goodput_GBps(1)) << "too short for such a clock";
  EXPECT_TRUE(timed.quartiles_GBps(1).empty());
}

// The receive is posted when the message may have come already.
TEST(TimedMessages, HaveNoRateOfTheTimeAfterTheyCame) {
  TimedMessages timed;
  timed.add(received(50, 60, 40));
  EXPECT_FALSE(timed.goodput_GBps(0.1));
  EXPECT_TRUE(timed.quartiles_GBps(0.1).empty());
  EXPECT_NEAR(timed.delivery_us().value_or(0), 0.02, 1e-9);
  // Most of the time both were ready: the rate is that of all of it, which is not too high.
  timed.add(received(105, 120, 100));
  EXPECT_NEAR(timed.goodput_GBps(0.1).value_or(0), 5, 1e-9);
  EXPECT_EQ(timed.quartiles_GBps(0.1), (std::vector<double>{5, 5, 5}));
  timed.add(received(250, 260, 200));
  EXPECT_FALSE(timed.goodput_GBps(0.1)) << "most of the bytes may have another rate";
  EXPECT_TRUE(timed.quartiles_GBps(0.1).empty());
}

TEST(TimedMessages, HaveNoRateWhereTheClocksMayBeAsFarApart) {
  TimedMessages near;
  near.add(received(0, 100, 40, 60));
  EXPECT_NEAR(near.goodput_GBps(0.1).value_or(0), 100.0 / 60, 1e-9) << "the least that it was";
  EXPECT_NEAR(near.delivery_us().value_or(0), 0.05, 1e-9);
  TimedMessages apart;
  apart.add(received(0, 100, 0, 50));
  apart.add({.own = {.completed_ns = 100, .bytes = 100, .kind = Transfer::receive}});
  EXPECT_FALSE(apart.goodput_GBps(0.1));
  EXPECT_FALSE(apart.delivery_us());
}

TEST(TimedMessages, HaveQuartilesOfLargeOnes) {
  TimedMessages timed(101);
  timed.add(received(0, 50, 40));
  EXPECT_TRUE(timed.quartiles_GBps(0.1).empty());
  EXPECT_NEAR(timed.goodput_GBps(0.1).value_or(0), 10, 1e-9);
}

}  // namespace
}  // namespace ucxbench
