#include "harness/analysis/comparison/placements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/analysis/comparison/halves.hpp"

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

Matched matched(const Result& base, const Result& now) {
  return Placements({&base, &now}).matched(base.cases[0], now.cases[0], "latency_us");
}

std::vector<double> of_all(const std::vector<Stratum>& strata, std::vector<double> Stratum::* run) {
  std::vector<double> all;
  for (const auto& of : strata) all.insert(all.end(), (of.*run).begin(), (of.*run).end());
  return all;
}

TEST(Placements, HoldLaunchesAgainstThoseOfTheSame) {
  const auto base = run_of({near(1), near(1.02), far(4), far(4.08)});
  const auto now = run_of({far(4.4), near(1.1), near(1.12), near(1.13)});
  const auto found = matched(base, now);
  ASSERT_EQ(found.strata.size(), 2U);
  EXPECT_EQ(found.strata[0].base, (std::vector{1, 1.02}));
  EXPECT_EQ(found.strata[0].now, (std::vector{1.1, 1.12, 1.13}));
  EXPECT_EQ(found.strata[1].base, (std::vector{4, 4.08}));
  EXPECT_EQ(found.strata[1].now, (std::vector{4.4}));
  // Most met the near one: 1.01 and 1.12 are its medians, 4.04 and 4.4 those of the far one.
  const auto level = std::sqrt(1.01 * 1.12) / std::sqrt(4.04 * 4.4);
  ASSERT_EQ(found.base.size(), 4U);
  EXPECT_DOUBLE_EQ(found.base[0], 1);
  EXPECT_DOUBLE_EQ(found.base[3], 4.08 * level);
  EXPECT_DOUBLE_EQ(found.now[0], 4.4 * level);
  EXPECT_EQ(Placements({&base, &now}).in_words(),
            "49 ns apart in 50 and 75 %, 215 ns apart in 50 and 25 % of launches");
  EXPECT_DOUBLE_EQ(Placements({&base, &now}).in_common(), 0.75);
}

/// 18 launches near, 6 far, these `factor` times as slow.
Result slower_when_far(double factor) {
  std::vector<Launch> launches;
  for (int at = 0; at < 24; ++at) {
    const auto noise = 1 + 0.002 * ((at * 7) % 11);
    launches.push_back(at % 4 == 3 ? far(20 * factor * noise) : near(5 * noise));
  }
  return run_of(launches);
}

// The new run has the base run's first host second: its launches met there what the base's met.
TEST(Placements, AreOfOneHostWhereverItStands) {
  const auto on = [](Result run, const char* first, const char* second) {
    run.machine["hosts"] = {{{"name", first}}, {{"name", second}}};
    return run;
  };
  const auto base = on(run_of({near(1), near(1.02), far(4), far(4.08)}), "a", "b");
  auto now = on(run_of({far(4.4), near(1.1), near(1.12), near(1.13)}), "b", "a");
  for (auto& record : now.cases[0].launches) {
    record.processors_elsewhere["a"] =
        std::exchange(record.processors, SeenProcessors{Processors{220, 50}, Processors{210, 50}});
  }
  const auto found = matched(base, now);
  ASSERT_EQ(found.strata.size(), 2U);
  EXPECT_EQ(of_all(found.strata, &Stratum::now), (std::vector<double>{1.1, 1.12, 1.13, 4.4}));
  // Runs without a host in common, as containers that are named anew, have the first of each.
  EXPECT_EQ(matched(base, on(run_of({far(4.4), near(1.1)}), "c", "d")).strata.size(), 2U);
}

TEST(Placements, ThatDisagreeAreNamed) {
  const auto series = compare(slower_when_far(1), slower_when_far(2)).series[0];
  EXPECT_EQ(series.change, Change::inconclusive);
  EXPECT_EQ(series.doubt, Doubt::none);
  EXPECT_NE(series.why.find("+0.0 % (5.0"), std::string::npos) << series.why;
  EXPECT_NE(series.why.find("+100.0 % (20."), std::string::npos) << series.why;
  // The base has no launch of 3.5 us, which twice 20 us would make of 20 us in matched medians.
  EXPECT_FALSE(series.base_modes);
  EXPECT_EQ(series.remark, "");
  EXPECT_EQ(compare(slower_when_far(1), slower_when_far(1)).series[0].differs_by_placement, "");
}

TEST(Placements, UnknownToOneRunAreSaid) {
  const auto base = run_of({near(1), far(4), near(1), far(4)});
  const auto now = run_of({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}});
  const auto said = [](const Result& one, const Result& other) {
    for (const auto& line : compare(one, other).differences) {
      if (line.find("no placement data") != std::string::npos) return line;
    }
    return std::string();
  };
  EXPECT_TRUE(said(base, now).starts_with("the new run")) << said(base, now);
  EXPECT_TRUE(said(now, base).starts_with("the base run")) << said(now, base);
  EXPECT_EQ(said(base, base), "");
  EXPECT_EQ(said(now, now), "");
}

TEST(Placements, AreOfSpeedToo) {
  const auto base = run_of({near(1), near(1.02), shared(1.3), shared(1.32)});
  const auto now = run_of({shared(1.34), near(1.1)});
  const auto found = matched(base, now).strata;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].now, std::vector{1.1});
  EXPECT_EQ(found[1].now, std::vector{1.34});
  EXPECT_NE(
      Placements({&base, &now}).in_words().find("49 ns apart at 71 % of the speed in 50 and 50 %"),
      std::string::npos)
      << Placements({&base, &now}).in_words();
}

TEST(Placements, OneChangesNothing) {
  const auto base = run_of({near(1), near(2), {3, 70, 40}});
  const auto now = run_of({near(3), near(5)});
  EXPECT_EQ(matched(base, now).base, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(matched(base, now).now, (std::vector<double>{3, 5}));
  EXPECT_EQ(Placements({&base, &now}).in_words(), "");
}

TEST(Placements, WhatARunDoesNotKnowChangesNothing) {
  const auto base = run_of({near(1), far(4)});
  const auto now = run_of({{1, 0, 0}, {4, 0, 0}});
  EXPECT_EQ(matched(base, now).base, (std::vector<double>{1, 4}));
  EXPECT_EQ(matched(base, now).now, (std::vector<double>{1, 4}));
  EXPECT_EQ(Placements({&base, &now}).in_words(), "");
}

TEST(Placements, ALaunchThatWasMovedIsHeldAgainstSuch) {
  const auto base = run_of({near(1), near(1), {2, 50, 210}, {2.2, 210, 50}});
  const auto now = run_of({near(1), near(1), {2.1, 50, 210}});
  const auto found = matched(base, now).strata;
  EXPECT_EQ(of_all(found, &Stratum::base), (std::vector{1.0, 1.0, 2.0, 2.2}));
  EXPECT_EQ(found.back().now, std::vector{2.1});
  EXPECT_NE(Placements({&base, &now}).in_words().find("moved meanwhile in 50 and 33 %"),
            std::string::npos);
}

TEST(Placements, OneThatOnlyOneRunMetDoesNotCount) {
  const auto base = run_of({near(1), near(1), far(4)});
  const auto now = run_of({near(1), near(1.5)});
  EXPECT_EQ(matched(base, now).base, (std::vector<double>{1, 1}));
  EXPECT_EQ(matched(base, now).now, (std::vector<double>{1, 1.5}));
}

TEST(Placements, RunsThatMetNoneInCommonHaveNoVerdict) {
  const std::vector<Launch> near_ones(12, near(1));
  const std::vector<Launch> far_ones(12, far(4));
  const auto found = compare(run_of(near_ones), run_of(far_ones));
  EXPECT_EQ(found.tests, 0U);
  ASSERT_EQ(found.series.size(), 1U);
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_EQ(found.series[0].why,
            "12 of 12 launches of the base run had a placement that the other run never had: bind "
            "both to the same CPUs, rerun interleaved (ucx-bench ab)");
  EXPECT_EQ(found.series[0].reason, Reason::placement);
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

TEST(Placements, LetASmallLossBeSeen) {
  const auto blind = compare(run_of(here_and_there(1, false)), run_of(here_and_there(1.05, false)));
  EXPECT_EQ(blind.series[0].change, Change::inconclusive);
  const auto found = compare(run_of(here_and_there(1, true)), run_of(here_and_there(1.05, true)));
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_NEAR(found.series[0].ratio.estimate, 1.05, 0.01);
  ASSERT_EQ(found.differences.size(), 2U);  // and that they took no turns
  EXPECT_NE(found.differences[0].find("2 placements, 49 to 215 ns apart"), std::string::npos)
      << found.differences[0];
}

TEST(Placements, ARunsHalvesKnowThem) {
  const auto run = run_of(here_and_there(1, true));
  const auto halves = halves_in_turns(run);
  EXPECT_EQ(halves[0].cases[0].launches.size(), 8U);
  EXPECT_EQ(halves[1].cases[0].launches.front().launch, 1);
  EXPECT_NE(Placements({&halves[0], &halves[1]}).in_words(), "");
}

// So many near and far launches in turn, all with the same small noise.
std::vector<Launch> unequal(double factor, int nears, int fars) {
  std::vector<Launch> launches;
  for (int i = 0; i < nears + fars; ++i) {
    auto launch = i < nears ? near(factor) : far(4 * factor);
    launch.us *= 1 + 0.003 * ((i * 7) % 11);
    launches.push_back(launch);
  }
  std::shuffle(launches.begin(), launches.end(), std::mt19937(5));
  return launches;
}

TEST(Placements, MetUnequallyOftenHideNoLoss) {
  for (const auto& [often, seldom] : {std::pair{22, 2}, {18, 6}}) {
    const auto found =
        compare(run_of(unequal(1, often, seldom)), run_of(unequal(1.5, seldom, often)));
    const auto& series = found.series[0];
    EXPECT_EQ(series.change, Change::regressed) << often;
    EXPECT_NEAR(series.ratio.estimate, 1.5, 0.02) << often;
    EXPECT_NEAR(*series.matched_now / *series.matched_base, 1.5, 0.03) << often;
    EXPECT_TRUE(found.differences.at(1).starts_with("the runs had placements unequally often"));
  }
}

TEST(Placements, OfAFewLaunchesSpeakForNoRun) {
  const auto found = compare(run_of(unequal(1, 24, 0)), run_of(unequal(1, 10, 14)));
  EXPECT_EQ(found.tests, 0U);
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_TRUE(
      found.series[0].why.starts_with("14 of 24 launches of the new run had a "
                                      "placement that the other run never had"))
      << found.series[0].why;
  EXPECT_EQ(compare(run_of(unequal(1, 24, 0)), run_of(unequal(1, 14, 10))).tests, 1U);
}

TEST(Placements, WithTooLittleOverlapGiveNoVerdict) {
  // One far launch of each: 1 of 24 ways to choose.
  const auto found = compare(run_of(unequal(1, 1, 12)), run_of(unequal(2, 12, 1))).series[0];
  EXPECT_EQ(found.change, Change::inconclusive);
  EXPECT_NE(found.why.find("too few launches with the same placement"), std::string::npos)
      << found.why;
}

}  // namespace
}  // namespace ucxbench
