#include "harness/result/flaws.hpp"

#include <gtest/gtest.h>

#include "harness/result/labels.hpp"

namespace ucxbench {
namespace {

Case with_launches(int launches) {
  Case of{.key = "a", .benchmark = "pingpong", .state = CaseState::measured};
  for (int launch = 0; launch < launches; ++launch) {
    LaunchRecord record{.launch = launch};
    record.samples["latency_us"].quantiles.p50 = 1.0 + launch;
    of.launches.push_back(record);
  }
  summarize(of);
  return of;
}

TEST(Flaws, ACaseThatFailedHasLaunchesButNoFigures) {
  for (const bool wrong : {false, true}) {
    auto of = with_launches(3);
    ASSERT_EQ(of.metrics.count("latency_us"), 1U);
    ASSERT_EQ(of.pairs.size(), 1U);
    if (wrong) {
      of.verified = {.checked = 3, .errors = 1};
    } else {
      of.state = CaseState::failed;
    }
    EXPECT_EQ(flaw_of(of), wrong ? Flaw::wrong_data : Flaw::failed);
    summarize(of);
    EXPECT_TRUE(of.metrics.empty());
    EXPECT_TRUE(of.pairs.empty());
    EXPECT_EQ(of.launches.size(), 3U);
  }
}

TEST(Flaws, WhatWasInterruptedHasFiguresAndNoVerdict) {
  auto of = with_launches(3);
  EXPECT_EQ(flaw_of(of), std::nullopt);
  of.labels = {to_string(Label::interrupted)};
  EXPECT_EQ(flaw_of(of), Flaw::interrupted);
  EXPECT_FALSE(has_failed(of));
  summarize(of);
  EXPECT_FALSE(of.metrics.empty());
}

TEST(Flaws, OfAnOlderFileAreFailures) {
  Result run;
  run.run = {{"state", "complete"}};
  run.cases = {with_launches(3), with_launches(3)};
  run.cases[0].verified = {.checked = 3, .errors = 2};
  fail_cases_of_older(run);
  EXPECT_EQ(run.cases[0].state, CaseState::failed);
  EXPECT_EQ(run.cases[0].reason, "2 of 3 checks found wrong data");
  EXPECT_TRUE(run.cases[0].metrics.empty());
  EXPECT_EQ(run.cases[1].state, CaseState::measured);
}

// What was measured whole before a rank was lost is a figure; the run says that it failed.
TEST(Flaws, OfARunThatFailedCasesThatWereMeasuredStay) {
  Result run;
  run.run = {{"state", "failed"}, {"reason", "rank 1 was lost"}};
  run.cases = {with_launches(3), with_launches(2)};
  fail_cases_of_older(run);
  for (const auto& of : run.cases) EXPECT_EQ(of.state, CaseState::measured);
}

}  // namespace
}  // namespace ucxbench
