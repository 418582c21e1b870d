#include "harness/analysis/comparison/duets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

/// One side of duets whose level is another in each quad, and `factor` times as slow. Both sides
/// differ by `noise` beside that.
Result side(double factor, int duets, unsigned seed, double noise = 0.005) {
  constexpr int quads = 10;
  Result result;
  result.machine = {{"id", "box"}, {"hosts", {{{"kernel", "6.1"}}}}};
  result.ucx = {{"version", "1.13.1"}};
  Case of;
  of.key = "pingpong/tag/host-host/tcp/8B";
  of.state = CaseState::measured;
  std::mt19937 levels(1);
  std::normal_distribution<double> level(0, 0.3);
  std::mt19937 random(seed);
  std::normal_distribution<double> spread(0, noise);
  for (int launch = 0; launch < duets; ++launch) {
    LaunchRecord record{.launch = launch};
    record.duet = {.id = "0123456789abcdef", .first = "base"};
    auto& blocks = record.duet->blocks["latency_us"];
    blocks.iterations = 100;
    for (int quad = 0; quad < quads; ++quad) {
      blocks.quads += quad % 2 == 0 ? 'A' : 'B';
      const auto here = 10 * factor * std::exp(level(levels));
      for (int block = 0; block < 2; ++block) {
        blocks.values.push_back(here * std::exp(spread(random)));
      }
    }
    record.samples["latency_us"] = {
        .quantiles = {.count = 1, .p50 = 10}, .seen = 1, .values = {10}};
    of.launches.push_back(record);
  }
  summarize(of);
  of.shows = shows_of_older(of);
  result.cases.push_back(of);
  return result;
}

DuetValues duets_between(const Result& base, const Result& now) {
  return duets_of(base.cases[0], now.cases[0], "latency_us");
}

TEST(Duets, AreTheTrimmedMeansOfTheirQuads) {
  const auto values = duets_between(side(1, 3, 2, 0), side(1.02, 3, 3, 0));
  ASSERT_EQ(values.logs.size(), 3U);
  for (const auto log : values.logs) EXPECT_NEAR(log, std::log(1.02), 1e-12);
  EXPECT_NEAR(values.now[0] / values.base[0], 1.02, 1e-12);
}

TEST(Duets, AreOfLaunchesThatRanSideBySide) {
  auto base = side(1, 3, 2);
  const auto now = side(1, 3, 3);
  base.cases[0].launches[0].duet->id = "fedcba9876543210";
  base.cases[0].launches[1].duet = std::nullopt;
  EXPECT_EQ(duets_between(base, now).logs.size(), 1U);
  auto& blocks = base.cases[0].launches[2].duet->blocks.at("latency_us");
  blocks.values[3] = std::nan("");
  EXPECT_TRUE(duets_between(base, now).logs.empty());
  blocks.values.pop_back();
  EXPECT_TRUE(duets_between(base, now).logs.empty());
  EXPECT_TRUE(duets_of(base.cases[0], now.cases[0], "bandwidth_GBps").logs.empty());
}

TEST(Duets, FindTwoPercentWhereTheHostChangesByThirty) {
  const auto found = compare(side(1, 12, 2), side(1.02, 12, 3));
  ASSERT_EQ(found.series.size(), 1U);
  const auto& row = found.series[0];
  EXPECT_EQ(row.method, Method::duets);
  EXPECT_EQ(row.change, Change::regressed);
  EXPECT_EQ(row.base_launches, 12U);
  EXPECT_NEAR(row.ratio.estimate, 1.02, 0.002);
  EXPECT_EQ(compare(side(1, 12, 2), side(1, 12, 3)).series[0].change, Change::unchanged);
}

TEST(Duets, AskNothingOfTheHost) {
  const auto on_a_host = [](Result result, double copy_GBps) {
    Case canary;
    canary.key = "canary/memcpy";
    canary.benchmark = canary_benchmark;
    canary.state = CaseState::measured;
    for (int launch = 0; launch < 12; ++launch) {
      canary.metrics["copy_GBps"].launch_medians.push_back(copy_GBps + 0.01 * launch);
    }
    canary.shows = shows_of_older(canary);
    result.cases.push_back(canary);
    return result;
  };
  const auto base = on_a_host(side(1, 12, 2), 8);
  auto now = on_a_host(side(1.02, 12, 3), 6);
  EXPECT_EQ(compare(base, now).host_changed, "");
  EXPECT_EQ(compare(base, now).series[0].change, Change::regressed);
  // Without its duets it is another comparison.
  for (auto& record : now.cases[0].launches) record.duet = std::nullopt;
  EXPECT_NE(compare(base, now).host_changed, "");
}

TEST(Duets, NeedEnoughForAVerdict) {
  EXPECT_EQ(launches_needed(1, 0.005, Method::duets), 9U);
  EXPECT_EQ(launches_needed(48, 0.005, Method::duets), 15U);
  const auto found = compare(side(1, 8, 2), side(1.5, 8, 3));
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_EQ(found.series[0].why, "8 duets are too few for a verdict among 1 test");
  EXPECT_EQ(found.series[0].launches_wanted, 9U);
}

TEST(Duets, SurviveTheirFile) {
  const auto written = launch_to_json(side(1, 1, 2).cases[0].launches[0]);
  EXPECT_EQ(launch_to_json(launch_from_json(written)), written);
  EXPECT_EQ(launch_from_json(written).duet->blocks.at("latency_us").quads, "ABABABABAB");
}

}  // namespace
}  // namespace ucxbench
