#include "harness/report/choice.hpp"

#include <gtest/gtest.h>

#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

Case measured(std::vector<std::string> set, std::uint64_t bytes, double latency_us,
              double bandwidth) {
  Case of;
  of.benchmark = "pingpong";
  of.parameters = {
      {"api", "tag"}, {"bytes", bytes}, {"memory", {"host", "host"}}, {"transports", set}};
  of.metrics["latency_us"].quantiles.p50 = latency_us;
  of.metrics["latency_us"].ci95 = {latency_us * 0.999, latency_us * 1.001};
  of.metrics["bandwidth_GBps"].quantiles.p50 = bandwidth;
  of.metrics["bandwidth_GBps"].ci95 = {bandwidth * 0.999, bandwidth * 1.001};
  of.shows = shows_of_older(of);
  return of;
}

TEST(Choice, NamesTheSimplestOfTheBestSetsAndWhatAutoLoses) {
  Result result;
  result.cases = {measured({"shm"}, 8, 1.00, 0.1),        measured({"tcp"}, 8, 4.0, 0.02),
                  measured({"shm", "tcp"}, 8, 0.98, 0.1), measured({"auto"}, 8, 1.50, 0.1),
                  measured({"shm"}, 1024, 5.0, 2.0),      measured({"tcp"}, 1024, 4.0, 4.0),
                  measured({"shm", "tcp"}, 1024, 5, 2.0), measured({"auto"}, 1024, 4.0, 2.0)};
  const auto choices = choices_of(result);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].title, "best set, tag, host to host");
  using Row = std::vector<std::string>;
  EXPECT_EQ(choices[0].grid.rows[0],
            (Row{"8 B", "shm", "1.000", "50 % (50..50 %)", "shm", "0.1000", "0 %"}));
  EXPECT_EQ(choices[0].grid.rows[1],
            (Row{"1 KiB", "tcp", "4.000", "0 %", "tcp", "4.000", "100 % (100..100 %)"}));
  EXPECT_EQ(choices[0].crossovers, (Row{"latency one way: shm up to 8 B, tcp from 1 KiB",
                                        "received: shm up to 8 B, tcp from 1 KiB"}));
}

TEST(Choice, RanksNoImpossibleFigureAndNamesIt) {
  Result result;
  result.cases = {measured({"shm"}, 8, 0.001, 0.1), measured({"tcp"}, 8, 4.0, 0.1),
                  measured({"auto"}, 8, 4.0, 0.1)};
  EXPECT_EQ(choices_of(result).at(0).grid.rows[0][1], "shm");
  EXPECT_TRUE(choices_of(result).at(0).left_out.empty());
  result.cases[0].launches.emplace_back().samples["latency_us"].quantiles.min = -1;
  const auto choices = choices_of(result);
  EXPECT_EQ(choices.at(0).grid.rows[0][1], "tcp");
  EXPECT_EQ(choices.at(0).left_out,
            (std::vector<std::string>{"not ranked: shm at 8 B: impossible, latency_us of 0->1 is "
                                      "-1.00, which cannot be"}));
  for (auto& of : result.cases) of.launches = result.cases[0].launches;
  EXPECT_EQ(choices_of(result).at(0).left_out.size(), 3U);
  EXPECT_TRUE(choices_of(result).at(0).grid.rows.empty());
}

TEST(Choice, RanksNothingOfTurnsOnAGpuAndSaysItOnceOfASet) {
  Result result;
  for (const std::uint64_t bytes : {8, 64}) {
    for (const auto* set : {"shm", "tcp", "auto"}) {
      result.cases.push_back(measured({set}, bytes, 4.0, 0.1));
    }
  }
  for (auto& of : result.cases) of.labels = {"same-gpu", "time-sliced"};
  result.cases[2].labels.clear();
  const auto choice = choices_of(result).at(0);
  ASSERT_EQ(choice.grid.rows.size(), 1U);
  EXPECT_EQ(choice.grid.rows[0][1], "auto");
  EXPECT_EQ(choice.left_out,
            (std::vector<std::string>{
                "not ranked: shm at every size: ranks take turns on one GPU, without CUDA MPS",
                "not ranked: tcp at every size: ranks take turns on one GPU, without CUDA MPS",
                "not ranked: auto at 64 B: ranks take turns on one GPU, without CUDA MPS"}));
}

TEST(Choice, RanksNothingUnderANameThatDidNotCarryIt) {
  Result result;
  result.cases = {measured({"shm"}, 8, 1.0, 0.1), measured({"tcp"}, 8, 4.0, 0.1),
                  measured({"auto"}, 8, 5.0, 0.1)};
  result.cases[0].path = {{"verdict", "other"}, {"carried_by", {{"tcp", 1.0}}}};
  const auto choices = choices_of(result);
  EXPECT_EQ(choices.at(0).grid.rows[0][1], "tcp");
  EXPECT_EQ(choices.at(0).left_out,
            std::vector<std::string>{"not ranked: shm at 8 B: tcp carried it"});
}

// What `auto` loses is of UCX's own choice.
TEST(Choice, SaysNothingOfAnAutoThatTheUserHasOverridden) {
  Result result;
  result.cases = {measured({"shm"}, 8, 1.0, 0.1), measured({"tcp"}, 8, 4.0, 0.1),
                  measured({"auto"}, 8, 5.0, 0.1)};
  result.cases[2].path = {{"verdict", "as-asked"}, {"carried_by", {{"tcp", 1.0}}}};
  result.cases[2].key = "of auto";
  result.ucx["environment"]["overridden"] = {"of auto"};
  EXPECT_EQ(choices_of(result).at(0).grid.rows[0][3], "-");
}

TEST(Choice, AutoMayBeTheBest) {
  Result result;
  result.cases = {measured({"shm"}, 8, 2, 1), measured({"tcp"}, 8, 4, 1),
                  measured({"auto"}, 8, 1, 2)};
  EXPECT_EQ(choices_of(result).at(0).grid.rows[0],
            (std::vector<std::string>{"8 B", "auto", "1.000", "0 %", "auto", "2.000", "0 %"}));
}

TEST(Choice, SaysWhichProgressModeItIsOf) {
  Result result;
  for (const auto* mode : {"poll", "event"}) {
    for (const auto* set : {"shm", "tcp", "auto"}) {
      result.cases.push_back(measured({set}, 8, 2, 1));
      result.cases.back().parameters["progress_mode"] = mode;
    }
  }
  const auto choices = choices_of(result);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].title, "best set, tag, host to host");
  EXPECT_EQ(choices[1].title, "best set, tag, host to host, event");
}

TEST(Choice, CannotTellWithoutIntervals) {
  Result result;
  result.cases = {measured({"shm"}, 8, 2, 1), measured({"tcp"}, 8, 4, 1),
                  measured({"auto"}, 8, 3, 2)};
  for (auto& of : result.cases) {
    for (auto& [name, metric] : of.metrics) metric.ci95.reset();
  }
  const auto choices = choices_of(result);
  EXPECT_EQ(choices.at(0).grid.rows[0][3], "?");
  EXPECT_TRUE(choices.at(0).crossovers.empty());
}

// Launches of both sets overlap: auto may lose nothing, or most.
TEST(Choice, SaysThatBothArePossible) {
  Result result;
  result.cases = {measured({"shm"}, 8, 2, 27.6), measured({"tcp"}, 8, 4, 1),
                  measured({"auto"}, 8, 2, 15.5)};
  result.cases[0].metrics["bandwidth_GBps"].ci95 = {15.0, 28.0};
  result.cases[2].metrics["bandwidth_GBps"].ci95 = {14.0, 30.0};
  const auto choice = choices_of(result).at(0);
  EXPECT_EQ(choice.grid.rows[0][4], "shm?") << "auto may be better";
  EXPECT_EQ(choice.grid.rows[0][6], "? (-50..100 %)");
  // Which set is the best is open as well.
  result.cases[1].metrics["bandwidth_GBps"] = result.cases[2].metrics["bandwidth_GBps"];
  EXPECT_EQ(choices_of(result).at(0).grid.rows[0][4], "shm?");
}

TEST(Choice, NeedsAutoAndTwoOtherSets) {
  Result result;
  result.cases = {measured({"shm"}, 8, 1, 1), measured({"tcp"}, 8, 1, 1)};
  EXPECT_TRUE(choices_of(result).empty());
  result.cases.push_back(measured({"auto"}, 8, 1, 1));
  EXPECT_EQ(choices_of(result).size(), 1U);
  result.cases[1].parameters["api"] = "stream";
  EXPECT_TRUE(choices_of(result).empty());
}

TEST(Choice, LeavesOutWhatWasNotMeasured) {
  Result result;
  result.cases = {measured({"shm"}, 8, 1, 1), measured({"tcp"}, 8, 2, 1),
                  measured({"auto"}, 8, 1, 1)};
  for (auto& of : result.cases) of.metrics.erase("bandwidth_GBps");
  const auto choices = choices_of(result);
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].grid.rows[0].size(), 4U);
  EXPECT_EQ(choices[0].grid.columns.size(), 4U);
  EXPECT_EQ(choices[0].crossovers[0], "latency one way: shm at every size");
}

}  // namespace
}  // namespace ucxbench
