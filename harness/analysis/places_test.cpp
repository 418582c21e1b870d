#include "harness/analysis/places.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/comparison.hpp"
#include "harness/analysis/halves.hpp"

namespace ucxbench {
namespace {

struct Launch {
  double us;
  double before_ns;
  double after_ns;
  double work_ns = 50;
};

Launch near(double us) { return {us, 50, 48}; }
Launch far(double us) { return {us, 220, 210}; }
Launch shared(double us) { return {us, 50, 48, 70}; }

Result run_of(const std::vector<Launch>& launches) {
  Result result;
  result.machine = {{"id", "vm"}};
  auto& of = result.cases.emplace_back();
  of.key = "pingpong/tag/host-host/shm/8B";
  of.benchmark = "pingpong";
  of.state = CaseState::measured;
  for (const auto& [us, before, after, work] : launches) {
    LaunchRecord record;
    record.launch = static_cast<int>(of.launches.size());
    record.samples["latency_us"].quantiles = {.count = 1, .min = us, .p50 = us, .max = us};
    record.samples["latency_us"].values = {us};
    if (before > 0) record.processors = {Processors{before, work}, Processors{after, work}};
    of.launches.push_back(record);
  }
  summarize(of);
  return result;
}

Alike alike(const Result& base, const Result& now) {
  return Places({&base, &now}).alike(base.cases[0], now.cases[0], "latency_us");
}

TEST(Places, HoldLaunchesAgainstThoseOfTheSamePlace) {
  const auto base = run_of({near(1), near(1.02), far(4), far(4.08)});
  const auto now = run_of({far(4.4), near(1.1), near(1.12), near(1.13)});
  const auto same = alike(base, now);
  // Of near ones the median of both is 1.1, of far ones 4.08, of all 1.125.
  EXPECT_EQ(same.base, (std::vector{1 / 1.1 * 1.125, 1.02 / 1.1 * 1.125, 4 / 4.08 * 1.125, 1.125}));
  EXPECT_EQ(same.now,
            (std::vector{4.4 / 4.08 * 1.125, 1.125, 1.12 / 1.1 * 1.125, 1.13 / 1.1 * 1.125}));
  EXPECT_EQ(Places({&base, &now}).in_words(),
            "49 ns apart in 62 %, 215 ns apart in 38 % of launches");
}

TEST(Places, AreOfSpeedToo) {
  const auto base = run_of({near(1), near(1.02), shared(1.3), shared(1.32)});
  const auto now = run_of({shared(1.34), near(1.1)});
  const auto same = alike(base, now).now;
  ASSERT_EQ(same.size(), 2U);
  EXPECT_DOUBLE_EQ(same[0], 1.34 / 1.32 * 1.2);
  EXPECT_DOUBLE_EQ(same[1], 1.1 / 1.02 * 1.2);
  EXPECT_NE(Places({&base, &now}).in_words().find("49 ns apart at 71 % of the speed in 50 %"),
            std::string::npos)
      << Places({&base, &now}).in_words();
}

TEST(Places, OnePlaceChangesNothing) {
  const auto base = run_of({near(1), near(2), {3, 70, 40}});
  const auto now = run_of({near(3), near(5)});
  EXPECT_EQ(alike(base, now).base, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(alike(base, now).now, (std::vector<double>{3, 5}));
  EXPECT_EQ(Places({&base, &now}).in_words(), "");
}

TEST(Places, WhatARunDoesNotKnowChangesNothing) {
  const auto base = run_of({near(1), far(4)});
  const auto now = run_of({{1, 0, 0}, {4, 0, 0}});
  EXPECT_EQ(alike(base, now).base, (std::vector<double>{1, 4}));
  EXPECT_EQ(alike(base, now).now, (std::vector<double>{1, 4}));
  EXPECT_EQ(Places({&base, &now}).in_words(), "");
}

TEST(Places, ALaunchThatWasMovedIsHeldAgainstSuch) {
  const auto base = run_of({near(1), near(1), {2, 50, 210}, {2.2, 210, 50}});
  const auto now = run_of({near(1), near(1), {2.1, 50, 210}});
  EXPECT_EQ(alike(base, now).base, (std::vector{1.0, 1.0, 2 / 2.1, 2.2 / 2.1}));
  EXPECT_NE(Places({&base, &now}).in_words().find("moved meanwhile in 43 % of launches"),
            std::string::npos);
}

TEST(Places, APlaceThatOneRunMetDoesNotCount) {
  const auto base = run_of({near(1), near(1), far(4)});
  const auto now = run_of({near(1), near(1.5)});
  EXPECT_EQ(alike(base, now).base, (std::vector<double>{1, 1}));
  EXPECT_EQ(alike(base, now).now, (std::vector<double>{1, 1.5}));
}

TEST(Places, RunsThatMetNoPlaceInCommonHaveNoVerdict) {
  const std::vector<Launch> near_ones(12, near(1));
  const std::vector<Launch> far_ones(12, far(4));
  const auto found = compare(run_of(near_ones), run_of(far_ones));
  EXPECT_EQ(found.tests, 0U);
  ASSERT_EQ(found.series.size(), 1U);
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_EQ(found.series[0].why,
            "no launches of both runs met the ranks' processors at the same place: bind both to "
            "the same CPUs, and measure them again in turns (ucx-bench ab)");
}

// Half of the launches are four times as slow, wherever the loss of 5 % is.
std::vector<Launch> here_and_there(double factor, bool with_processors) {
  std::vector<Launch> launches;
  for (int i = 0; i < 16; ++i) {
    auto launch = i % 5 < 2 ? far(4 * factor) : near(factor);
    launch.us *= 1 + 0.002 * ((i * 7) % 11);
    if (!with_processors) launch.before_ns = 0;
    launches.push_back(launch);
  }
  return launches;
}

TEST(Places, LetASmallLossBeSeen) {
  const auto blind = compare(run_of(here_and_there(1, false)), run_of(here_and_there(1.05, false)));
  EXPECT_EQ(blind.series[0].change, Change::inconclusive);
  const auto found = compare(run_of(here_and_there(1, true)), run_of(here_and_there(1.05, true)));
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_NEAR(found.series[0].ratio.estimate, 1.05, 0.01);
  ASSERT_EQ(found.differences.size(), 2U);  // and that they took no turns
  EXPECT_NE(found.differences[0].find("49 ns apart in 56 %"), std::string::npos)
      << found.differences[0];
}

TEST(Places, ARunsHalvesKnowThem) {
  const auto run = run_of(here_and_there(1, true));
  const auto halves = halves_in_turns(run);
  EXPECT_EQ(halves[0].cases[0].launches.size(), 8U);
  EXPECT_EQ(halves[1].cases[0].launches.front().launch, 1);
  EXPECT_NE(Places({&halves[0], &halves[1]}).in_words(), "");
}

}  // namespace
}  // namespace ucxbench
