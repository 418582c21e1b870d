#include "harness/report/workload_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/result/interval.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

Case workload(const std::vector<std::string>& transports, int ranks, const Json& scaling) {
  Case of;
  of.benchmark = "merge";
  of.state = CaseState::measured;
  of.parameters = {{"transports", transports}, {"ranks", ranks},     {"runs", 3},
                   {"rows", 1000 / ranks},     {"scaling", scaling}, {"memory", {"host", "host"}},
                   {"ignore_bytes", 1048576},  {"net_devices", "lo"}};
  of.phases =
      Json::array({{{"name", "partition"}, {"kind", "computing"}, {"median_ms", 30.0}},
                   {{"name", "shuffle"}, {"kind", "waiting"}, {"median_ms", 70.0}},
                   {{"name", "probe"}, {"kind", "computing"}, {"median_ms", 10.0}},
                   {{"name", "UCX, while computing"}, {"kind", "moving"}, {"median_ms", 5.0}}});
  of.exchange = {{"bytes", 60e6}, {"alone_GBps", 1.0}, {"input_bytes", 1e8}};
  Metric wall;
  wall.quantiles.p50 = 110;
  of.metrics["wall_ms"] = wall;
  of.shows = shows_of_older(of);
  return of;
}

std::string line_of(const Case& of, const std::string& name) {
  const auto lines = exchange_of(of);
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const auto& line) { return line.first == name; });
  return found == lines.end() ? "" : found->second;
}

TEST(Bound, IsTheSumWhereTheCpusMoveTheBytes) {
  EXPECT_EQ(line_of(workload({"tcp", "shm"}, 2, nullptr), "lower bound"),
            "40.0 ms computing, 60.0 ms exchange alone: together 100 ms; the run took 1.10 x that");
}

TEST(Bound, HasTheIntervalsOfItsParts) {
  for (const bool in_turn : {true, false}) {
    auto of = workload({"tcp", in_turn ? "shm" : "ib"}, 2, nullptr);
    of.exchange["intervals"]["alone_GBps"] = to_json(Interval{0.9, 1.1});
    of.metrics["wall_ms"].ci95 = {100, 120};
    of.phases[0]["intervals"]["median_ms"] = to_json(Interval{28, 32});
    of.phases[2]["intervals"]["median_ms"] = to_json(Interval{10, 10});
    EXPECT_EQ(line_of(of, "lower bound"),
              in_turn ? "40.0 (38.0..42.0) ms computing, 60.0 (54.5..66.7) ms exchange alone: "
                        "together 100 (92.5..109) ms; the run took 1.10 (0.920..1.30) x that"
                      : "40.0 (38.0..42.0) ms computing, 60.0 (54.5..66.7) ms exchange alone: the "
                        "longer is 60.0 (54.5..66.7) ms; the run took 1.83 (1.50..2.20) x that");
  }
}

TEST(Bound, IsTheLongerOneElsewhere) {
  EXPECT_EQ(
      line_of(workload({"tcp", "ib"}, 2, nullptr), "lower bound"),
      "40.0 ms computing, 60.0 ms exchange alone: the longer is 60.0 ms; the run took 1.83 x that");
}

// A rank also waits while no message is under way: the wait is no part of that time.
TEST(Exchange, MayBeWaitedForLongerThanItIsUnderWay) {
  auto of = workload({"tcp", "ib"}, 2, nullptr);
  of.exchange.update({{"egress_imbalance", 1}, {"busy_ms", 5}, {"exposed_ms", 6}, {"overlap", 0}});
  EXPECT_EQ(line_of(of, "exchange"),
            "60.00 MB between ranks per run, busiest rank 1.00 x the mean; means of the runs: "
            "5.00 ms communicating, 6.00 ms waiting: 0 % overlapped");
  of.exchange["intervals"]["overlap"] = {{"low", 0.0}, {"high", 0.25}, {"kind", "range"}};
  EXPECT_TRUE(line_of(of, "exchange").ends_with(": 0 % (0..25, range) overlapped"))
      << line_of(of, "exchange");
  of.exchange["not_ready_ms"] = 2;
  EXPECT_TRUE(line_of(of, "exchange")
                  .ends_with("; 2.00 ms for ranks that were not ready, which is no communication"));
}

// 110 ms, where the parts took 112 ms.
TEST(Bound, IsNotMetByARatioBelowOne) {
  auto of = workload({"tcp", "shm"}, 2, nullptr);
  of.exchange["alone_GBps"] = of.exchange.at("alone_GBps").get<double>() * 60 / 72;
  EXPECT_EQ(line_of(of, "lower bound"),
            "40.0 ms computing, 72.0 ms exchange alone: together 112 ms; the run took no longer");
}

TEST(Bound, IsNoneWhereTheRunWasFaster) {
  auto of = workload({"shm"}, 2, nullptr);
  of.exchange["alone_GBps"] = of.exchange.at("alone_GBps").get<double>() / 4;
  EXPECT_EQ(line_of(of, "lower bound").substr(0, 5), "none:");
}

TEST(Bound, NeedsACalibration) {
  auto of = workload({"shm"}, 2, nullptr);
  of.exchange["alone_GBps"] = nullptr;
  EXPECT_EQ(line_of(of, "lower bound"), "");
}

TEST(Bound, IsNoneWhereNothingIsComputed) {
  auto of = workload({"shm"}, 2, nullptr);
  of.phases = Json::array({{{"name", "dispatch"}, {"kind", "exchanging"}, {"median_ms", 30.0}}});
  EXPECT_EQ(line_of(of, "lower bound"), "");
}

TEST(Phases, ShowWhatTheyReceiveWhereTheyExchangeApart) {
  auto of = workload({"shm"}, 2, nullptr);
  EXPECT_EQ(phases_of(of).columns.size(), 5U);
  of.phases =
      Json::array({{{"name", "counts"}, {"median_ms", 1.0}},
                   {{"name", "dispatch"}, {"median_ms", 30.0}, {"ingress_imbalance", 1.5}}});
  of.metrics["dispatch_GBps"].quantiles.p50 = 2;
  const auto grid = phases_of(of);
  ASSERT_EQ(grid.columns.size(), 7U);
  EXPECT_EQ(grid.rows.at(0).at(5), "-");
  EXPECT_EQ(grid.rows.at(0).at(6), "-");
  EXPECT_EQ(grid.rows.at(1).at(5), "2.000");
  EXPECT_EQ(grid.rows.at(1).at(6), "1.50");
}

TEST(Calibrated, IsWhatTheExchangeCanReach) {
  auto of = workload({"shm"}, 2, nullptr);
  EXPECT_EQ(line_of(of, "calibrated"), "");
  of.exchange["calibrated_GBps"] = 2.0;
  of.exchange["calibrated_by"] = "host memory: memcpy";
  EXPECT_EQ(line_of(of, "calibrated"),
            "peak of the exchange 2.00 GB/s (host memory: memcpy); alone it reached 50 %");
  of.exchange["alone_GBps"] = 4.0;
  EXPECT_EQ(line_of(of, "calibrated"),
            "peak of the exchange 2.00 GB/s (host memory: memcpy); alone it reached 200 % (above)");
}

// The one slow run of a thousand may be among those that were not kept.
TEST(HarmonicMean, IsOfAllRunsOrNotSaid) {
  auto of = workload({"shm"}, 2, nullptr);
  LaunchRecord record;
  record.samples["throughput_GBps"] = {.seen = 2, .values = {1, 3}};
  const auto harmonic_mean = [&] {
    of.launches = {record};
    Result result;
    result.cases = {of};
    const auto blocks = blocks_of(result);
    const auto grid = workload_metrics_of(blocks.front());
    const auto column = std::ranges::find(grid.columns, "harm. mean", &Grid::Column::name);
    return grid.rows.at(0).at(static_cast<std::size_t>(column - grid.columns.begin()));
  };
  EXPECT_EQ(harmonic_mean(), "1.500");
  record.samples["throughput_GBps"].seen = 3;
  EXPECT_EQ(harmonic_mean(), "-");
}

TEST(Scaling, ShowsWhatFollowsFromTheRanks) {
  for (const auto& scaling : {Json(), Json("strong")}) {
    Result result;
    for (const int ranks : {1, 2}) result.cases.push_back(workload({"shm"}, ranks, scaling));
    const auto blocks = blocks_of(result);
    // Rows that differ for no stated reason are different cases.
    ASSERT_EQ(blocks.size(), scaling.is_null() ? 2U : 1U);
    const auto grid = workload_metrics_of(blocks.front());
    if (scaling.is_null()) {
      EXPECT_EQ(grid.columns.at(1).name, "p50");
      continue;
    }
    EXPECT_EQ(grid.columns.at(1).name, "rows");
    EXPECT_EQ(grid.rows.at(1).at(1), "500");
  }
}

// As a benchmark of tomorrow describes it: two axes, of which only the ranks scale.
TEST(Scaling, IsHeldAgainstTheFewestRanksOfTheSameEdge) {
  const View made_up{.kind = ViewKind::workload,
                     .axes = {number_of_ranks(), {"edge", "edge", ShownAxis::Unit::plain}},
                     .metrics = workload_metrics(),
                     .amount = Amount{.parameter = "edge", .power = 2}};
  Result result;
  for (const int edge : {64, 128}) {
    for (const int ranks : {1, 4}) {
      auto of = workload({"shm"}, ranks, nullptr);
      of.benchmark = "made-up";
      of.parameters.erase("rows");
      of.parameters["edge"] = edge;
      of.shows = shows_of(made_up, of.benchmark, of.parameters);
      of.metrics["throughput_GBps"].quantiles.p50 = edge * (ranks == 1 ? 1 : 2);
      result.cases.push_back(of);
    }
  }
  const auto blocks = blocks_of(result);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks.front().title, "made-up, host to host, over shm");
  const auto grid = workload_metrics_of(blocks.front());
  ASSERT_EQ(grid.rows.size(), 4U);
  EXPECT_EQ(grid.columns.at(1).name, "edge");
  EXPECT_EQ(grid.rows.at(3).at(0), "4");
  EXPECT_EQ(grid.rows.at(3).at(1), "128");
  for (const std::size_t row : {0, 2}) EXPECT_EQ(grid.rows.at(row).back(), "100 %");
  for (const std::size_t row : {1, 3}) EXPECT_EQ(grid.rows.at(row).back(), "50 %");
}

// A row held against itself would say 100 %.
TEST(Scaling, HasNoEfficiencyOfOneNumberOfRanks) {
  Result result;
  result.cases = {workload({"shm"}, 2, "strong"), workload({"shm"}, 4, "strong")};
  EXPECT_TRUE(has_efficiency(blocks_of(result).front()));
  result.cases[1] = workload({"shm"}, 2, "strong");
  EXPECT_FALSE(has_efficiency(blocks_of(result).front()));
  const auto grid = workload_metrics_of(blocks_of(result).front());
  EXPECT_NE(grid.columns.back().name, "efficiency");
}

}  // namespace
}  // namespace ucxbench
