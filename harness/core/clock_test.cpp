#include "harness/core/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ucxbench {
namespace {

TEST(Clock, AgreesWithTheMonotonicClock) {
  const auto clock = Clock::calibrate();
  const auto ns = monotonic_ns();
  const auto start = clock.ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto elapsed_us = clock.us(clock.ticks() - start);
  const auto expected_us = static_cast<double>(monotonic_ns() - ns) * 1e-3;
  // A preemption between the two readings is the only reason to differ by more than a few ppm.
  EXPECT_NEAR(elapsed_us / expected_us, 1.0, 0.02);
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

}  // namespace
}  // namespace ucxbench
