#include "harness/host/canary.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "harness/result/events.hpp"

namespace ucxbench {
namespace {

TEST(Canary, IsTwoCasesWithALaunchEachTime) {
  Result result;
  result.cases.emplace_back().key = "pingpong/tag/host-host/tcp/8B";
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  for (const int launch : {0, 1}) {
    for (const auto& event : measure_canary(launch)) apply_event(result, event);
  }
  sum_up(result);
  cpu_set_t after;
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));  // or all ranks would be on one CPU

  ASSERT_EQ(result.cases.size(), 3U);
  const auto& copy = result.cases[1];
  const auto& call = result.cases[2];
  EXPECT_EQ(copy.key, "canary/memcpy");
  EXPECT_EQ(call.key, "canary/syscall");
  for (const auto* canary : {&copy, &call}) {
    EXPECT_EQ(canary->benchmark, canary_benchmark);
    EXPECT_EQ(canary->state, CaseState::measured);
    ASSERT_EQ(canary->launches.size(), 2U);
    EXPECT_EQ(canary->launches[1].launch, 1);
    EXPECT_TRUE(canary->pairs.empty());
  }
  EXPECT_GE(copy.parameters.at("bytes"), std::uint64_t{64} << 20U);
  const auto& rate = copy.metrics.at("copy_GBps");
  EXPECT_EQ(rate.better, "higher");
  EXPECT_EQ(rate.samples_seen, 8U);
  ASSERT_EQ(rate.launch_medians.size(), 2U);
  EXPECT_GT(rate.launch_medians[0], 0);
  const auto& trip = call.metrics.at("round_trip_us");
  EXPECT_EQ(trip.better, "lower");
  EXPECT_GT(*trip.quantiles.min, 0);
}

}  // namespace
}  // namespace ucxbench
