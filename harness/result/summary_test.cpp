#include <gtest/gtest.h>

#include <utility>

#include "harness/result/interval.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/result.hpp"
#include "harness/result/workload_summary.hpp"

namespace ucxbench {
namespace {

LaunchRecord record(int launch, int src, const std::string& metric, const Quantiles& quantiles,
                    std::vector<double> values = {}) {
  LaunchRecord made{.launch = launch, .src = src, .dst = src + 1, .messages = 10};
  made.samples[metric] = {
      .quantiles = quantiles, .seen = quantiles.count, .values = std::move(values)};
  return made;
}

Quantiles of_latency(double p50, std::optional<double> p99 = std::nullopt) {
  return {.count = 100, .min = p50 - 1, .p50 = p50, .p90 = p50 + 1, .p99 = p99, .max = p50 + 2};
}

TEST(Summary, IsTheMedianOverLaunches) {
  Case of;
  // Recorded in the order A B, B A: launch 1 comes before launch 0.
  for (const int launch : {1, 0, 2, 3, 4, 5}) {
    of.launches.push_back(record(launch, 0, "latency_us", of_latency(10.0 + launch)));
  }
  for (auto& of_launch : of.launches) {
    of_launch.samples["latency_us"].quantiles.p99 = of_launch.launch < 3 ? 30 : 40;
    if (of_launch.launch > 0) of_launch.samples["latency_us"].quantiles.p999 = 50;
  }
  summarize(of);
  const auto& latency = of.metrics.at("latency_us");
  EXPECT_EQ(latency.launch_medians, (std::vector<double>{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(latency.quantiles.p50, 12.5);
  EXPECT_EQ(latency.quantiles.p90, 13.5);
  EXPECT_EQ(latency.quantiles.p99, 35);
  EXPECT_FALSE(latency.quantiles.p999);  // one launch is too short for it
  EXPECT_EQ(latency.quantiles.min, 9);
  EXPECT_EQ(latency.quantiles.max, 17);
  EXPECT_EQ(latency.ci95, (std::array{10.0, 15.0}));  // six values: the extremes
  EXPECT_EQ(latency.quantiles.count, 6U);
  EXPECT_EQ(latency.samples_seen, 600U);
  EXPECT_EQ(latency.better, "lower");
}

TEST(Summary, TakesTheMedianOverPairsFirst) {
  Case of;
  for (const double p50 : {10.0, 20.0, 90.0}) {
    const auto src = static_cast<int>(2 * of.launches.size());
    of.launches.push_back(record(0, src, "latency_us", of_latency(p50)));
  }
  of.launches.push_back(record(1, 0, "latency_us", of_latency(40)));
  summarize(of);
  const auto& latency = of.metrics.at("latency_us");
  EXPECT_EQ(latency.launch_medians, (std::vector<double>{20, 40}));
  EXPECT_EQ(latency.quantiles.p50, 30);
  EXPECT_EQ(latency.quantiles.max, 92);
  EXPECT_EQ(latency.quantiles.count, 4U);
  EXPECT_FALSE(latency.ci95);  // below six launches
}

TEST(Summary, DescribesEachPair) {
  Case of;
  of.parameters = {{"bytes", 100}};
  of.shows = shows_of_older(of);
  of.launches.push_back(record(0, 2, "bandwidth_GBps", {.count = 2, .p50 = 1.5}, {1, 2}));
  of.launches.push_back(record(0, 0, "latency_us", of_latency(10)));
  of.launches.push_back(record(1, 2, "bandwidth_GBps", {.count = 3, .p50 = 4}, {5, 3, 4}));
  of.launches.push_back(record(1, 0, "latency_us", of_latency(30)));
  summarize(of);
  ASSERT_EQ(of.pairs.size(), 2U);
  EXPECT_EQ(
      of.pairs[0],
      (Json{{"src", 0},
            {"dst", 1},
            {"bytes", 2000},
            {"messages", 20},
            {"latency_p50_us", 20.0},
            {"p25_GBps", nullptr},
            {"p50_GBps", nullptr},
            {"p75_GBps", nullptr},
            {"intervals",
             {{"latency_p50_us", to_json(interval_over({10, 30}))}, {"p50_GBps", nullptr}}}}));
  EXPECT_EQ(of.pairs[1].at("p25_GBps"), 2);
  EXPECT_EQ(of.pairs[1].at("p50_GBps"), 3);
  EXPECT_EQ(of.pairs[1].at("p75_GBps"), 4);
  EXPECT_TRUE(of.pairs[1].at("latency_p50_us").is_null());
}

TEST(Summary, OfNothingIsEmpty) {
  Case of{.key = "k", .state = CaseState::skipped};
  summarize(of);
  EXPECT_TRUE(of.metrics.empty());
  EXPECT_TRUE(of.pairs.empty());
}

TEST(Summary, OfACanaryHasNoPairs) {
  Case of;
  of.shows.kind = ViewKind::canary;
  of.launches.push_back(record(0, 0, "copy_GBps", {.count = 1, .p50 = 8}, {8}));
  summarize(of);
  EXPECT_EQ(of.metrics.at("copy_GBps").quantiles.p50, 8);
  EXPECT_EQ(of.pairs, Json::array());
}

TEST(Summary, OfAWorkloadHasTheMediansOfEachRank) {
  Case of;
  for (const double ms : {1.0, 3.0}) {
    LaunchRecord launch;
    launch.workload = {{"phases", Json::array({{{"name", "gaps"},
                                                {"kind", "gap"},
                                                {"median_ms", ms},
                                                {"by_rank_ms", {ms, 2 * ms}}}})},
                       {"pairs", Json::array()},
                       {"exchange", {{"bytes", 1}}}};
    of.launches.push_back(std::move(launch));
  }
  summarize_workload(of);
  EXPECT_EQ(of.phases.at(0).at("kind"), "gap");
  EXPECT_EQ(of.phases.at(0).at("by_rank_ms"), Json({2.0, 4.0}));
}

LaunchRecord launch_of_phase(const Json& phase) {
  LaunchRecord launch;
  launch.workload = {{"phases", Json::array({phase})},
                     {"pairs", Json::array()},
                     {"exchange", {{"bytes", 1}, {"alone_GBps", nullptr}}}};
  return launch;
}

// In the first launch rank 0 is the slowest, and in the others rank 1.
TEST(Summary, OfAWorkloadNamesTheRankThatIsSlowestOverAllLaunches) {
  Case of;
  for (const auto& ms : {Json{9.0, 2.0}, Json{1.0, 4.0}, Json{2.0, 6.0}}) {
    of.launches.push_back(launch_of_phase({{"name", "probe"},
                                           {"kind", "computing"},
                                           {"median_ms", 3.0},
                                           {"slowest_rank", ms[0] > ms[1] ? 0 : 1},
                                           {"slowest_ms", std::max(ms[0], ms[1])},
                                           {"by_rank_ms", ms}}));
  }
  summarize_workload(of);
  const auto& phase = of.phases.at(0);
  EXPECT_EQ(phase.at("slowest_rank"), 1);
  EXPECT_EQ(phase.at("slowest_ms"), 4) << "its own median, not that of the slowest of each launch";
  const auto interval = interval_at(phase, "slowest_ms");
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 2);
  EXPECT_EQ(interval->high, 6);
  EXPECT_EQ(interval->kind, Interval::Kind::range);
}

TEST(Summary, OfAWorkloadNamesNoSlowestRankOfWhatWasNotTimed) {
  Case of;
  of.launches.push_back(launch_of_phase(
      {{"name", "UCX, while computing"}, {"kind", "moving"}, {"median_ms", nullptr}}));
  summarize_workload(of);
  EXPECT_TRUE(of.phases.at(0).at("slowest_rank").is_null());
  EXPECT_TRUE(of.phases.at(0).at("slowest_ms").is_null());
}

// A number that the first launch lacks counts.
TEST(Summary, OfAWorkloadTakesAllLaunches) {
  Case of;
  for (const auto& alone : {Json(), Json(2.0), Json(4.0)}) {
    of.launches.push_back(launch_of_phase({{"name", "probe"}}));
    of.launches.back().workload["exchange"]["alone_GBps"] = alone;
    if (of.launches.size() > 1) of.launches.back().workload["exchange"]["overlap"] = 0.5;
  }
  summarize_workload(of);
  EXPECT_EQ(of.exchange.at("alone_GBps"), 3);
  EXPECT_EQ(of.exchange.at("overlap"), 0.5);
}

TEST(Summary, EveryMedianHasAnInterval) {
  EXPECT_FALSE(interval_over({5})) << "of one launch nobody knows";
  const auto few = interval_over({5, 3, 4});
  ASSERT_TRUE(few);
  EXPECT_EQ(few->low, 3);
  EXPECT_EQ(few->high, 5);
  EXPECT_EQ(few->kind, Interval::Kind::range);
  const auto many = interval_over({5, 3, 4, 6, 7, 8, 9, 10, 100});
  ASSERT_TRUE(many);
  EXPECT_EQ(many->kind, Interval::Kind::ci95);
  EXPECT_LT(many->high, 100);
}

}  // namespace
}  // namespace ucxbench
