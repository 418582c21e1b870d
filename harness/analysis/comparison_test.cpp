#include "harness/analysis/comparison.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ucxbench {
namespace {

/// A run of latency cases with so many launches, `factor` times as slow, all with the same noise.
Result run(const std::vector<double>& factors, std::size_t launches, unsigned seed,
           double noise = 0.01) {
  Result result;
  result.machine = {{"id", "box"}, {"hosts", {{{"kernel", "6.1"}}}}};
  result.build = {{"commit", "0123456789abcdef"}};
  result.ucx = {{"version", "1.13.1"}};
  std::mt19937 random(seed);
  std::normal_distribution<double> spread(0, noise);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    Case of;
    of.key = "pingpong/tag/host-host/tcp/" + std::to_string(i);
    of.state = CaseState::measured;
    Metric metric;
    for (std::size_t launch = 0; launch < launches; ++launch) {
      metric.launch_medians.push_back(10 * factors[i] * std::exp(spread(random)));
    }
    of.metrics["latency_us"] = metric;
    of.metrics["message_rate_per_s"] = metric;
    result.cases.push_back(of);
  }
  return result;
}

TEST(Compare, FindsLossesAndGainsAndSaysWhatStayed) {
  const auto found = compare(run({1, 1, 1}, 12, 1), run({1.2, 0.8, 1}, 12, 2), 0.01, 0.005);
  ASSERT_EQ(found.series.size(), 3U);
  EXPECT_EQ(found.tests, 3U);
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_EQ(found.series[0].key.back(), '0');
  EXPECT_NEAR(found.series[0].ratio.estimate, 1.2, 0.02);
  EXPECT_EQ(found.series[1].change, Change::improved);
  EXPECT_EQ(found.series[2].change, Change::unchanged);
}

TEST(Compare, KnowsWhichDirectionIsBetter) {
  auto base = run({1}, 12, 1);
  auto now = run({1.2}, 12, 2);
  for (auto* result : {&base, &now}) {
    auto& metrics = result->cases[0].metrics;
    metrics["bandwidth_GBps"] = metrics.at("latency_us");
    metrics.erase("latency_us");
  }
  EXPECT_EQ(compare(base, now, 0.01, 0.005).series[0].change, Change::improved);
}

TEST(Compare, SaysWhenAVerdictIsOutOfReach) {
  const auto found = compare(run({1}, 3, 1), run({2}, 3, 2), 0.01, 0.005);
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_EQ(found.series[0].why,
            "3 and 3 launches cannot give a verdict among 1 tests: --launches 5");
}

TEST(Compare, WantsMoreLaunchesWhereItIsTooNoisy) {
  const auto found = compare(run({1}, 10, 1, 0.3), run({1}, 10, 2, 0.3), 0.01, 0.005);
  EXPECT_EQ(found.series[0].change, Change::inconclusive);
  EXPECT_NE(found.series[0].why.find("too noisy to tell 5 %: --launches "), std::string::npos);
}

TEST(Compare, IgnoresWhatIsBelowTheFloor) {
  // Certain, but small: 0.2 % with a noise of 0.01 %.
  const auto found = compare(run({1}, 20, 1, 1e-4), run({1.002}, 20, 2, 1e-4), 0.01, 0.005);
  EXPECT_LT(found.series[0].corrected, 0.01);
  EXPECT_EQ(found.series[0].change, Change::unchanged);
}

TEST(Compare, NamesWhatIsMissingOrNew) {
  auto base = run({1, 1}, 10, 1);
  auto now = run({1, 1}, 10, 2);
  now.cases[0].key = "pingpong/tag/host-host/shm/8B";
  now.cases[1].metrics.clear();
  now.cases[1].state = CaseState::skipped;
  now.cases[1].reason = "no tcp here";
  const auto found = compare(base, now, 0.01, 0.005);
  ASSERT_EQ(found.series.size(), 3U);
  EXPECT_EQ(found.series[0].change, Change::missing);
  EXPECT_EQ(found.series[0].why, "the new run does not have this case");
  EXPECT_EQ(found.series[1].why, "skipped in the new run: no tcp here");
  EXPECT_EQ(found.series[2].change, Change::added);
}

TEST(Compare, NeverAcrossMachines) {
  auto other = run({1}, 10, 2);
  other.machine["id"] = "another";
  const auto found = compare(run({1}, 10, 1), other, 0.01, 0.005);
  EXPECT_EQ(found.incomparable, "measured on different machines, box and another");
  EXPECT_TRUE(found.series.empty());
  other.machine["id"] = "box";
  other.ucx["version"] = "1.22.0";
  EXPECT_EQ(compare(run({1}, 10, 1), other, 0.01, 0.005).differences,
            std::vector<std::string>{"UCX 1.13.1 -> 1.22.0"});
}

/// The same run with a canary that copies memory `factor` times as fast.
Result with_canary(Result result, double factor, std::size_t launches = 12) {
  Case canary;
  canary.key = "canary/memcpy";
  canary.benchmark = canary_benchmark;
  canary.state = CaseState::measured;
  Metric metric;
  for (std::size_t launch = 0; launch < launches; ++launch) {
    metric.launch_medians.push_back(8 * factor * (1 + 0.001 * static_cast<double>(launch % 5)));
  }
  canary.metrics["copy_GBps"] = metric;
  result.cases.push_back(canary);
  return result;
}

TEST(Compare, GivesNoVerdictOnAHostThatChanged) {
  const auto base = with_canary(run({1, 1, 1}, 12, 1), 1);
  auto now = with_canary(run({1.2, 0.8, 1}, 12, 2), 0.75);
  now.cases[1].key = "pingpong/tag/host-host/shm/1";
  const auto found = compare(base, now, 0.01, 0.005);
  EXPECT_EQ(found.host_changed, "canary/memcpy copy_GBps 8.012 -> 6.009 (-25.0 %)");
  ASSERT_EQ(found.series.size(), 4U);
  EXPECT_EQ(found.tests, 2U);
  for (const auto& series : found.series) {
    EXPECT_NE(series.key, "canary/memcpy");
    if (series.key.ends_with("/1")) continue;
    EXPECT_EQ(series.change, Change::inconclusive);
    EXPECT_EQ(series.why,
              "the host changed: " + found.host_changed + "; measure both again, in turns");
  }
  EXPECT_EQ(found.series[2].change, Change::missing);
  EXPECT_EQ(found.series[3].change, Change::added);
  ASSERT_EQ(found.canaries.size(), 1U);
  EXPECT_EQ(found.canaries[0].change, Change::regressed);
}

TEST(Compare, BelievesAHostThatStayed) {
  const auto base = run({1, 1}, 12, 1);
  const auto now = run({1.2, 1}, 12, 2);
  const auto found = compare(with_canary(base, 1), with_canary(now, 1), 0.01, 0.005);
  EXPECT_EQ(found.host_changed, "");
  EXPECT_EQ(found.canaries.at(0).change, Change::unchanged);
  EXPECT_EQ(found.series[0].change, Change::regressed);
  EXPECT_EQ(found.series[1].change, Change::unchanged);
  EXPECT_EQ(found.tests, 2U);
  // Of too few launches, or of one run only, it says nothing.
  const auto few = compare(with_canary(base, 1, 3), with_canary(now, 0.5, 3), 0.01, 0.005);
  EXPECT_EQ(few.host_changed, "");
  const auto half = compare(with_canary(base, 1), now, 0.01, 0.005);
  EXPECT_TRUE(half.canaries.empty());
  EXPECT_EQ(half.series[0].change, Change::regressed);
  EXPECT_EQ(half.series.size(), 2U);
  EXPECT_EQ(compare(base, with_canary(now, 0.5), 0.01, 0.005).series.size(), 2U);
}

TEST(Compare, KnowsHowManyLaunchesAVerdictTakes) {
  EXPECT_EQ(launches_needed(1, 0.01), 5U);
  EXPECT_EQ(launches_needed(4, 0.01), 6U);
  EXPECT_EQ(launches_needed(900, 0.01), 10U);
  EXPECT_EQ(launches_needed(1000, 0.01), 11U);
}

// Of 100 comparisons without a change, each of 20 cases, hardly one may raise an alarm; a loss of
// 10 % at a noise of 2 % is found in almost all.
TEST(Compare, RaisesFewFalseAlarmsAndFindsRealLosses) {
  int alarms = 0;
  int found = 0;
  for (unsigned trial = 0; trial < 100; ++trial) {
    const std::vector<double> same(20, 1.0);
    auto slower = same;
    slower[7] = 1.1;
    const auto base = run(same, 12, 3 * trial, 0.02);
    const auto loss = [](const Comparison& comparison) {
      return comparison.series.front().change == Change::regressed;
    };
    const auto& quiet = compare(base, run(same, 12, 3 * trial + 1, 0.02), 0.01, 0.005);
    alarms += loss(quiet) || quiet.series.front().change == Change::improved ? 1 : 0;
    found += loss(compare(base, run(slower, 12, 3 * trial + 2, 0.02), 0.01, 0.005)) ? 1 : 0;
  }
  EXPECT_LE(alarms, 4);
  EXPECT_GE(found, 95);
}

}  // namespace
}  // namespace ucxbench
