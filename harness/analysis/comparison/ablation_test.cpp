#include "harness/analysis/comparison/ablation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/statistics.hpp"
#include "harness/result/shows.hpp"

namespace ucxbench {
namespace {

View curve() {
  return {.axes = {message_size()},
          .metrics = {metric_named("latency_us", {.shown = Shown::drawn}),
                      metric_named("bandwidth_GBps", {.shown = Shown::drawn}),
                      metric_named("message_rate_per_s", {.shown = Shown::kept})}};
}

Case measured(const std::string& set, const std::string& comm, const std::string& mode,
              std::vector<double> latencies, std::uint64_t bytes = 8) {
  Case of{.key = set + comm + mode,
          .benchmark = "pingpong",
          .parameters = {{"api", "tag"},
                         {"bytes", bytes},
                         {"comm", comm},
                         {"memory", {"host", "host"}},
                         {"progress_mode", mode},
                         {"transports", {set}}},
          .state = CaseState::measured};
  of.shows = shows_of(curve(), of.benchmark, of.parameters);
  auto& metric = of.metrics["latency_us"];
  metric.launch_medians = latencies;
  metric.quantiles.p50 = median(std::move(latencies));
  return of;
}

TEST(Ablation, HoldsEachWayAgainstTheBest) {
  Result result;
  result.cases = {measured("tcp", "ucx", "poll", {4.0, 4.1, 4.2, 4.0, 4.1, 4.2}),
                  measured("tcp", "sockets", "poll", {2.0, 2.1, 2.0, 2.1, 2.0, 2.1}),
                  measured("tcp", "sockets", "event", {8.0, 8.1, 8.2, 8.0, 8.1, 8.2})};
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("title"), "pingpong tag, host to host");
  EXPECT_EQ(all[0].at("row"), "8 B");
  EXPECT_EQ(all[0].at("metric"), "latency_us");
  const auto& compared = all[0].at("ways");
  ASSERT_EQ(compared.size(), 3U);
  EXPECT_EQ(compared[0].at("way"), "tcp by sockets, poll");
  EXPECT_EQ(compared[0].at("ratio"), 1);
  EXPECT_TRUE(compared[0].at("ratio_ci95").is_null());
  EXPECT_EQ(compared[1].at("way"), "tcp by ucx, poll");
  EXPECT_NEAR(compared[1].at("ratio").get<double>(), 2, 0.05);
  const auto interval = compared[1].at("ratio_ci95");
  EXPECT_GT(interval.at(0), 1.8);
  EXPECT_LT(interval.at(1), 2.2);
  EXPECT_EQ(compared[2].at("way"), "tcp by sockets, event");
}

// It would be the best of all.
TEST(Ablation, RanksNoImpossibleFigureAndNamesIt) {
  Result result;
  result.cases = {measured("shm", "ucx", "poll", {2.0}), measured("tcp", "ucx", "poll", {0.001}),
                  measured("auto", "ucx", "poll", {4.0}), measured("shm,tcp", "ucx", "poll", {3})};
  result.cases[1].launches.emplace_back().samples["latency_us"].quantiles.min = -1;
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("ways").size(), 3U);
  EXPECT_EQ(all[0].at("ways")[0].at("way"), "shm");
  EXPECT_EQ(all[0].at("ways")[0].at("ratio"), 1);
  ASSERT_EQ(all[0].at("left_out").size(), 1U);
  EXPECT_EQ(all[0].at("left_out")[0].at("way"), "tcp");
  EXPECT_EQ(all[0].at("left_out")[0].at("flaw"), "impossible");
  EXPECT_EQ(all[0].at("left_out")[0].at("why"),
            "impossible, latency_us of 0->1 is -1.00, which cannot be");
}

TEST(Ablation, HasNoIntervalOfFewLaunches) {
  Result result;
  result.cases = {measured("tcp", "ucx", "poll", {4.0}), measured("tcp", "sockets", "poll", {2.0})};
  const auto all = ablation_of(result);
  EXPECT_EQ(all.at(0).at("ways").at(1).at("ratio"), 2);
  EXPECT_TRUE(all.at(0).at("ways").at(1).at("ratio_ci95").is_null());
}

TEST(Ablation, OfSetsAloneWantsThatAllWereTried) {
  Result result;
  result.cases = {measured("tcp", "ucx", "poll", {4.0}), measured("shm", "ucx", "poll", {2.0})};
  EXPECT_TRUE(ablation_of(result).empty());
  result.cases.push_back(measured("auto", "ucx", "poll", {2.0}));
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("ways").at(2).at("way"), "tcp");
}

TEST(Ablation, KeepsLoadsApart) {
  Result result;
  result.cases = {measured("tcp", "ucx", "poll", {4.0}), measured("tcp", "sockets", "poll", {2.0}),
                  measured("tcp", "ucx", "poll", {40.0}, 1024),
                  measured("tcp", "sockets", "poll", {20.0}, 1024)};
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].at("row"), "1 KiB");
}

TEST(Ablation, ShowsTheSmallestTimeAndTheLargestRateOfManyLoads) {
  Result result;
  for (const std::uint64_t bytes : {8U, 64U, 1024U, 8192U}) {
    for (const auto* comm : {"ucx", "sockets"}) {
      result.cases.push_back(measured("tcp", comm, "poll", {4.0}, bytes));
      result.cases.back().metrics["bandwidth_GBps"].quantiles.p50 = 5.0;
    }
  }
  std::vector<std::string> shown;
  for (const auto& entry : ablation_of(result)) {
    if (entry.at("shown").get<bool>()) {
      shown.push_back(entry.at("row").get<std::string>() + " " +
                      entry.at("metric").get<std::string>());
    }
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"8 B latency_us", "8 KiB bandwidth_GBps"}));
}

TEST(Ablation, SaysHowMuchOfItsLimitEachReached) {
  Result result;
  result.cases = {measured("tcp", "ucx", "poll", {4.0}), measured("shm", "sockets", "poll", {2.0})};
  for (auto& of : result.cases) of.metrics["bandwidth_GBps"].quantiles.p50 = 5.0;
  result.cases[1].limits = Json::array({{{"GBps", 20.0}, {"p50_GBps", 5.0}}});
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 2U);
  const auto& compared = all[1].at("ways");
  EXPECT_TRUE(compared[0].at("limit_share").is_null());
  EXPECT_EQ(compared[1].at("limit_share"), 0.25);
  EXPECT_TRUE(all[0].at("ways")[1].at("limit_share").is_null());  // a latency has none
}

Json phase(const std::string& name, const char* kind, double ms) {
  return {{"name", name}, {"kind", kind}, {"median_ms", ms}};
}

TEST(Ablation, SplitsTheTimeOfAWorkload) {
  Result result;
  for (const auto* comm : {"ucx", "sockets"}) {
    Case of{.key = comm,
            .benchmark = "merge",
            .parameters = {{"comm", comm}, {"ranks", 2}, {"transports", {"tcp"}}},
            .state = CaseState::measured};
    of.shows = shows_of(
        {.kind = ViewKind::workload, .axes = {number_of_ranks()}, .metrics = workload_metrics()},
        of.benchmark, of.parameters);
    of.metrics["wall_ms"].quantiles.p50 = 10.0;
    of.phases = {phase("build", "computing", 5), phase("shuffle", "waiting", 3),
                 phase("dispatch", "exchanging", 1),
                 phase(std::string(comm) + ", while computing", "moving", 2)};
    of.exchange = {{"alone_GBps", 1.0}, {"calibrated_GBps", 4.0}};
    result.cases.push_back(std::move(of));
  }
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 1U);  // of the drawn metrics
  EXPECT_EQ(all[0].at("parts"), Json::array({"computing", "communicating"}));
  for (const auto& way : all[0].at("ways")) {
    EXPECT_EQ(way.at("computing_ms"), 5.0);
    EXPECT_EQ(way.at("communicating_ms"), 6.0);
    EXPECT_EQ(way.at("limit_share"), 0.25);
  }
}

// Of one set after the other: the same traffic is what they have in common.
TEST(Ablation, HoldsReplaysAgainstTheRecordedRun) {
  Result result;
  for (const auto* set : {"tcp", "shm"}) {
    Case of{.key = set,
            .benchmark = "replay",
            .parameters = {{"ranks", 2}, {"transports", {set}}, {"recorded_ms", 20.0}},
            .state = CaseState::measured};
    of.shows = shows_of(
        {.kind = ViewKind::workload, .axes = {number_of_ranks()}, .metrics = workload_metrics()},
        of.benchmark, of.parameters);
    of.metrics["wall_ms"].quantiles.p50 = set == std::string("tcp") ? 10.0 : 5.0;
    of.phases = {phase("gaps", "gap", 1), phase("transferring", "exchanging", 3),
                 phase("waiting", "exchanging", 2), phase("UCX, while computing", "moving", 0)};
    result.cases.push_back(std::move(of));
  }
  const auto all = ablation_of(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("parts"), Json::array({"gaps", "transferring", "waiting"}));
  const auto& best = all[0].at("ways")[0];
  EXPECT_EQ(best.at("key"), "shm");
  EXPECT_EQ(best.at("recorded_ratio"), 0.25);
  EXPECT_EQ(all[0].at("ways")[1].at("recorded_ratio"), 0.5);
  EXPECT_EQ(best.at("transferring_ms"), 3.0);
  EXPECT_EQ(best.at("waiting_ms"), 2.0);
  EXPECT_FALSE(best.contains("computing_ms")) << "a replay does not compute";
  for (auto& of : result.cases) of.parameters.erase("recorded_ms");
  EXPECT_TRUE(ablation_of(result).empty());
}

}  // namespace
}  // namespace ucxbench
