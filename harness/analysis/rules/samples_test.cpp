#include <gtest/gtest.h>

#include <random>

#include "harness/analysis/rules/modes.hpp"
#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

/// Around `middle`, with a standard deviation of 2 %.
std::vector<double> around(double middle, std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(middle, 0.02 * middle);
  std::vector<double> values(count);
  for (auto& value : values) value = normal(random);
  return values;
}

std::vector<double> both(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(TwoModes, AreFoundWithTheirShares) {
  const auto modes = two_modes_of(both(around(3, 180), around(5, 76)));
  ASSERT_TRUE(modes);
  EXPECT_NEAR(modes->low, 3, 0.05);
  EXPECT_NEAR(modes->high, 5, 0.1);
  EXPECT_NEAR(modes->share_high, 76.0 / 256, 0.03);
}

TEST(TwoModes, OfFewValuesAreFarApart) {
  ASSERT_TRUE(two_modes_of_few(both(around(3, 8), around(5, 4))));
  EXPECT_NEAR(two_modes_of_few(both(around(3, 8), around(5, 4)))->share_high, 1.0 / 3, 0.01);
  EXPECT_FALSE(two_modes_of_few(both(around(3, 10), around(5, 2))));  // two may be outliers
  EXPECT_FALSE(two_modes_of_few(both(around(3, 4), around(5, 3))));   // too few
  EXPECT_TRUE(two_modes_of_few(both(around(3, 180), around(5, 76))));
  int seen = 0;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.3);  // wide enough for modes 10 % apart
    std::vector<double> values(10);
    for (auto& value : values) value = std::exp(noise(random));
    seen += two_modes_of_few(values) ? 1 : 0;
  }
  EXPECT_LE(seen, 5);
}

TEST(TwoModes, AreNotTailsOrNoiseOrFew) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(two_modes_of(around(3, 256, seed))) << seed;
    std::mt19937 random(seed);
    std::exponential_distribution<double> exponential(1);
    std::uniform_real_distribution<double> uniform(1, 2);
    std::vector<double> tail;
    std::vector<double> flat;
    for (int i = 0; i < 256; ++i) {
      tail.push_back(3 + exponential(random));
      flat.push_back(uniform(random));
    }
    EXPECT_FALSE(two_modes_of(tail)) << seed;
    EXPECT_FALSE(two_modes_of(flat)) << seed;
  }
  // 3 % of outliers; a difference of 4 %; 20 samples; all the same.
  EXPECT_FALSE(two_modes_of(both(around(3, 248), around(300, 8))));
  EXPECT_FALSE(two_modes_of(both(std::vector<double>(50, 1.0), std::vector<double>(50, 1.04))));
  EXPECT_FALSE(two_modes_of(both(around(3, 10), around(5, 10))));
  EXPECT_FALSE(two_modes_of(std::vector<double>(100, 1.0)));
}

TEST(TwoModes, OfACaseAreThoseOfHalfItsLaunches) {
  auto result = made_run();
  auto of = made_case(65536, {"shm"});
  for (int launch = 0; launch < 4; ++launch) {
    LaunchRecord record{.launch = launch};
    record.samples["latency_us"].values =
        launch < 2 ? both(std::vector<double>(128, 3.0), std::vector<double>(128, 17.0))
                   : std::vector<double>(256, 3.0);
    of.launches.push_back(record);
  }
  result.cases = {of};
  EXPECT_EQ(said(two_modes, result),
            Said{"pingpong tag, host to host, over shm: latency of 64 KiB has two modes, 3.00 us "
                 "and 17.0 us (50 %, 2 of 4 launches)"});
  const auto findings = two_modes(Judged(result));
  EXPECT_NEAR(findings[0].cost_ms.value_or(0), 7e-3, 1e-4);
  result.cases[0].launches[1].samples["latency_us"].values.clear();
  EXPECT_EQ(said(two_modes, result), Said());
}

TEST(WideInterval, IsATenthOfTheMedian) {
  auto result = made_run();
  auto of = made_case(8, {"shm"});
  auto& metric = of.metrics.at("latency_us");
  metric.quantiles.p50 = 10;
  metric.ci95 = {9.0, 12.0};
  metric.launch_medians.assign(9, 10);
  result.cases = {of};
  EXPECT_EQ(said(wide_interval, result),
            Said{"run: wide 95 % intervals: latency up to 30 % (8 B over shm; 1 of 1 cases)"});
  // The range of eight launches.
  result.cases[0].metrics.at("latency_us").launch_medians.pop_back();
  EXPECT_EQ(said(wide_interval, result),
            Said{"run: launches far apart: latency up to 30 % (8 B over shm; 1 of 1 cases)"});
  result.cases[0].metrics.at("latency_us").ci95 = {9.0, 11.4};
  EXPECT_EQ(said(wide_interval, result), Said());
  result.cases[0].metrics.at("latency_us").launch_medians.push_back(10);
  result.cases[0].metrics.at("latency_us").ci95 = {9.8, 10.4};
  EXPECT_EQ(said(wide_interval, result), Said());
}

// From half-way on another program takes the CPUs. However few or many launches there are, and
// whatever is measured, such a run is not good.
TEST(WideInterval, IsOfEveryRunThatWasDisturbedFromHalfWay) {
  for (const auto* name : {"bandwidth_GBps", "latency_us", "wall_ms"}) {
    for (const int launches : {2, 3, 5, 6, 8, 9, 24}) {
      auto result = made_run();
      auto of = made_case(8, {"shm"});
      for (int launch = 0; launch < launches; ++launch) {
        LaunchRecord record{.launch = launch};
        const double value = 2 * launch < launches ? 0.52 : 0.18;
        record.samples[name] = {.quantiles = {.count = 1, .p50 = value + 1e-3 * launch}};
        of.launches.push_back(record);
      }
      summarize(of);
      result.cases = {of};
      EXPECT_EQ(said(wide_interval, result).size(), 1U) << name << ", " << launches;
      result.findings = findings_of(result);
      EXPECT_EQ(quality_of(result).level, "poor") << name << ", " << launches;
    }
  }
}

TEST(TimingCost, IsAPercent) {
  auto result = made_run();
  result.cases = {made_case(8, {"shm"})};
  result.cases[0].launches = {
      LaunchRecord{.overheads = {{"timed_mean_us", 1.05}, {"untimed_mean_us", 1.0}}}};
  EXPECT_EQ(said(timing_cost, result),
            Said{"run: timer overhead or noise up to 5.0 % (8 B over shm; 1 of 1 cases): the timed "
                 "and the untimed loop differ by that"});
  result.cases[0].launches[0].overheads["timed_mean_us"] = 1.005;
  EXPECT_EQ(said(timing_cost, result), Said());
}

TEST(FewLaunches, AreFewerThanSix) {
  auto result = made_run();
  result.cases = {made_case(8, {"shm"})};
  auto& medians = result.cases[0].metrics.at("latency_us").launch_medians;
  medians = {1, 2};
  EXPECT_EQ(said(few_launches, result), Said{"run: 2 launches give no 95 % interval"});
  medians = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(said(few_launches, result), Said());
}

TEST(ShortStreams, SayWhyThereIsNoFigure) {
  auto result = made_run();
  auto of = made_case(8, {"shm"});
  of.benchmark = "p2p";
  of.parameters["concurrent"] = "all";
  of.shows = shows_of_older(of);
  LaunchRecord good;
  good.samples["bandwidth_GBps"] = {};
  good.overheads = {{"streams_common_ms", 10}, {"streams_span_ms", 20}};
  of.launches = {good, LaunchRecord{.dst = 2}};
  result.cases = {of};
  EXPECT_EQ(said(short_streams, result),
            (Said{"p2p tag, host to host, over shm, 8 B: no rate for 1 of 2 streams: streams are "
                  "shorter than 50 clock steps",
                  "p2p tag, host to host, over shm, 8 B: no total for all pairs: their streams "
                  "overlapped for only 10.0 of 20.0 ms"}));
  result.cases[0].launches.pop_back();
  result.cases[0].metrics["together_GBps"] = {};
  EXPECT_EQ(said(short_streams, result), Said());

  result.cases = {made_case(8, {"shm"})};
  result.cases[0].launches = {LaunchRecord{}};
  result.cases[0].parameters["measure"] = {"latency"};
  EXPECT_EQ(said(short_streams, result), Said());
  result.cases[0].parameters["measure"] = {"latency", "bandwidth"};
  EXPECT_EQ(said(short_streams, result),
            Said{"pingpong tag, host to host, over shm, 8 B: no rate for 1 of 1 stream: streams "
                 "are shorter than 50 clock steps"});
  // Of atomic operations there is a rate alone.
  result.cases[0].launches[0].samples["message_rate_per_s"] = {};
  EXPECT_EQ(said(short_streams, result), Said());
}

}  // namespace
}  // namespace ucxbench
