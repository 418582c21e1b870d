#include "harness/core/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace ucxbench {
namespace {

TEST(Clock, AgreesWithTheMonotonicClock) {
  const auto clock = Clock::calibrate();
  // The clock's readings lie within those of the other at the begin, and around them at the end, so
  // that its time is at most the other's, whatever comes between; then the other way round.
  auto outer = monotonic_ns();
  auto inner = clock.ticks();
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  wait();
  const auto within_us = clock.us(clock.ticks() - inner);
  EXPECT_LT(within_us, static_cast<double>(monotonic_ns() - outer) * 1e-3 * 1.01);
  inner = clock.ticks();
  outer = monotonic_ns();
  wait();
  const auto others_us = static_cast<double>(monotonic_ns() - outer) * 1e-3;
  EXPECT_GT(clock.us(clock.ticks() - inner), others_us * 0.99);
}

TEST(Clock, NeverGoesBackwards) {
  const auto clock = Clock::calibrate(1);
  auto last = clock.ticks();
  for (int i = 0; i < 100'000; ++i) {
    const auto now = clock.ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, ConvertsBothWays) {
  const auto clock = Clock::calibrate(5);
  EXPECT_NEAR(clock.us(clock.ticks_in(0.5)), 500'000.0, 1.0);
  EXPECT_GT(clock.cost_ns(), 0.0);
}

// Differences of a clock that moves by `step` ticks and is read as whole ticks, at instants that
// are `least`, `least` + 1, … `least` + 31 ticks apart, and once much later.
std::vector<std::uint64_t> differences(double step, int least) {
  std::vector<std::uint64_t> all;
  double now = 0;
  std::uint64_t last = 0;
  for (int turn = 0; turn < 4096; ++turn) {
    now += least + turn % 32 + (turn == 2000 ? 12'345.6 : 0.0);
    const auto read = static_cast<std::uint64_t>(std::floor(now / step) * step);
    all.push_back(read - last);
    last = read;
  }
  return all;
}

TEST(Clock, FindsItsStepWhateverAReadingTakes) {
  // An EPYC's counter of 100 MHz at 2.596 GHz, with readings shorter and longer than a step.
  EXPECT_NEAR(clock_step_ticks(differences(25.96, 3)), 25.96, 0.002);
  EXPECT_NEAR(clock_step_ticks(differences(25.96, 40)), 25.96, 0.002);
  // A clock in nanoseconds over such a counter, and one of 25 MHz.
  EXPECT_NEAR(clock_step_ticks(differences(10, 21)), 10, 0.02);
  EXPECT_NEAR(clock_step_ticks(differences(40, 21)), 40, 0.02);
  // A counter that moves by each tick, or by two: what a reading takes is no step.
  EXPECT_EQ(clock_step_ticks(differences(1, 24)), 1);
  EXPECT_EQ(clock_step_ticks(differences(2, 24)), 2);
}

TEST(Clock, HasNoStepWithoutDifferences) {
  EXPECT_EQ(clock_step_ticks({}), 1);
  EXPECT_EQ(clock_step_ticks(std::vector<std::uint64_t>{0, 0, 0}), 1);
  EXPECT_EQ(clock_step_ticks(std::vector<std::uint64_t>{400, 0, 400, 800}), 400);
}

TEST(Clock, GivesNoRateOfAnIntervalShorterThan50Steps) {
  EXPECT_EQ(Clock::rate_per_s(8, 499, 10), std::nullopt);
  EXPECT_EQ(Clock::rate_per_s(8, 0, 10), std::nullopt);
  EXPECT_NEAR(Clock::rate_per_s(8, 500, 10).value_or(0), 16e6, 1);
  const auto clock = Clock::calibrate(1);
  EXPECT_EQ(clock.per_s(1, 0), std::nullopt);
  EXPECT_NEAR(clock.per_s(1, clock.ticks_in(0.5)).value_or(0), 2, 1e-6);
}

TEST(Clock, MovesByItsStepHere) {
  const auto clock = Clock::calibrate(5);
  EXPECT_GT(clock.step_ns(), 0.0);
  std::uint64_t ticks = 0;
  while (ticks == 0) {
    const auto before = clock.ticks();
    ticks = clock.ticks() - before;
  }
  // The least that is seen is one step at least, to a tick.
  EXPECT_GE(clock.us(ticks + 1) * 1e3, clock.step_ns() * 0.99);
}

TEST(Clock, LooksForItsStepInWhatIsSeenOften) {
  std::vector<std::uint64_t> differences(1000, 26);
  differences.insert(differences.end(), 500, 52);
  // Interruptions, of any length.
  differences.insert(differences.end(), {39, 33});
  EXPECT_NEAR(clock_step_ticks(differences), 26, 0.1);
}

}  // namespace
}  // namespace ucxbench
