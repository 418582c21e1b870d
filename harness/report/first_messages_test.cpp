#include "harness/report/first_messages.hpp"

#include <gtest/gtest.h>

#include "harness/report/report.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

PoolCosts some() {
  return {.pool_us = 100,
          .pool_first_us = 30,
          .pooled_us = 10,
          .allocate_us = 15,
          .fresh_us = 40,
          .release_us = 5,
          .peers = 1};
}

TEST(Pool, PaysWhenWhatTransfersSavedReachesWhatItCostMore) {
  // 100 + 1 · (30 - 10) more, 15 + 40 + 5 - 10 saved by each.
  EXPECT_EQ(transfers_until_paid(some()), 3);  // 120 / 50 = 2.4
  auto exactly = some();
  exactly.pool_us = 130;
  EXPECT_EQ(transfers_until_paid(exactly), 3);  // 150 / 50
  exactly.pool_us = 131;
  EXPECT_EQ(transfers_until_paid(exactly), 4);
}

TEST(Pool, IsTouchedFirstByEveryPeer) {
  auto many = some();
  many.peers = 10;
  EXPECT_EQ(transfers_until_paid(many), 6);  // (100 + 200) / 50
}

TEST(Pool, PaysAtOnceOrNever) {
  auto nothing_more = some();
  nothing_more.pool_us = 0;
  nothing_more.pool_first_us = 9;
  EXPECT_EQ(transfers_until_paid(nothing_more), 0);
  auto nothing_saved = some();
  nothing_saved.pooled_us = 60;
  EXPECT_EQ(transfers_until_paid(nothing_saved), std::nullopt);
}

/// `apart`: how far six launches are from the median at most, relative.
Case cold_case(const std::string& buffers, int peers, const std::map<std::string, double>& figures,
               double apart) {
  Case of{
      .key = "cold/tag/host-host/shm/1MiB/peers=" + std::to_string(peers) + "/buffers=" + buffers,
      .benchmark = "cold",
      .parameters = {{"api", "tag"},
                     {"bytes", 1 << 20},
                     {"peers", peers},
                     {"buffers", buffers},
                     {"memory", {"host", "host"}},
                     {"transports", {"shm"}}},
      .state = CaseState::measured};
  for (const auto& [name, us] : figures) {
    of.metrics[name].quantiles.p50 = us;
    const auto low = us * (1 - apart);
    const auto high = us * (1 + apart);
    of.metrics[name].launch_medians = {low, low, us, us, high, high};
  }
  of.shows = shows_of_older(of);
  return of;
}

Result cold_run(double apart = 0) {
  Result result;
  for (const int peers : {1, 2}) {
    result.cases.push_back(cold_case(
        "pool", peers,
        {{"allocate_us", 500}, {"pool_first_message_us", 90}, {"first_message_us", 50}}, apart));
    result.cases.push_back(
        cold_case("own", peers,
                  {{"first_message_us", 80}, {"steady_us", 45}, {"registration_us", 7}}, apart));
    result.cases.push_back(
        cold_case("fresh", peers,
                  {{"first_message_us", 200}, {"allocate_us", 100}, {"release_us", 20}}, apart));
  }
  return result;
}

TEST(FirstMessages, HaveOneRowPerSizeAndPeers) {
  const auto result = cold_run();
  const auto blocks = blocks_of(result);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks.front().kind(), ViewKind::first_messages);
  const auto grid = first_messages_of(blocks.front());
  ASSERT_EQ(grid.rows.size(), 4U);  // and one of intervals below each
  const std::vector<std::string> expected = {"1 MiB", "1",   "50.0", "80.0", "200", "45.0",
                                             "35.0",  "120", "7.00", "500",  "90.0"};
  EXPECT_EQ(grid.rows.front(), expected);
  EXPECT_EQ(grid.rows.at(2).at(1), "2");
}

TEST(FirstMessages, NothingCostsLessThanNothing) {
  auto result = cold_run();
  const auto own = [&]() -> auto& {
    return result.cases[1].metrics["first_message_us"].quantiles.p50;
  };
  own() = 44;
  EXPECT_EQ(first_messages_of(blocks_of(result).front()).rows.front().at(6), "noise");
  own() = 201;
  EXPECT_EQ(first_messages_of(blocks_of(result).front()).rows.front().at(7), "noise");
}

TEST(FirstMessages, SayWhenAPoolHasPaidAndHowFarThatMayBeOff) {
  // (500 + peers · 40) / (100 + 200 + 20 - 50): exactly 2, and 2.15.
  EXPECT_EQ(pool_pays(blocks_of(cold_run()).front()),
            "1 peer: 1 MiB after 2 transfers (2..2); 2 peers: 1 MiB after 3 transfers (3..3)");
  // 450 + (81 - 55) to 550 + (99 - 45), over 352 - 45 to 288 - 55.
  EXPECT_EQ(pool_pays(blocks_of(cold_run(0.1)).front()),
            "1 peer: 1 MiB after 2 transfers (2..3); 2 peers: 1 MiB after 3 transfers (2..3)");
}

TEST(FirstMessages, DoNotDecideWhereNeverIsAsPossible) {
  // 320 · (1 ± 0.8) less 50 · (1 ± 0.8) may be below 0.
  const auto text = pool_pays(blocks_of(cold_run(0.8)).front());
  EXPECT_TRUE(text.starts_with("1 peer: 1 MiB ? (after 1 transfer or more, or never); ")) << text;
}

TEST(FirstMessages, OfOneLaunchDecideNothing) {
  auto result = cold_run();
  for (auto& of : result.cases) {
    for (auto& [name, metric] : of.metrics) metric.launch_medians.resize(1);
  }
  EXPECT_EQ(pool_pays(blocks_of(result).front()),
            "1 peer: 1 MiB ? (one launch); 2 peers: 1 MiB ? (one launch)");
}

TEST(FirstMessages, OfFewLaunchesHaveTheirRange) {
  auto result = cold_run(0.1);
  for (auto& of : result.cases) {
    for (auto& [name, metric] : of.metrics) {
      metric.launch_medians = {metric.launch_medians.front(), metric.launch_medians.back()};
    }
  }
  EXPECT_TRUE(pool_pays(blocks_of(result).front())
                  .starts_with("1 peer: 1 MiB after 2 transfers (2..3, range)"));
}

TEST(FirstMessages, AreInTheTableAndInMarkdown) {
  const auto result = cold_run();
  for (const auto* format : {"table", "markdown"}) {
    const auto text = render(format, result);
    EXPECT_NE(text.find("page faults"), std::string::npos) << text;
    EXPECT_NE(text.find("1 MiB after 2 transfers"), std::string::npos) << text;
    EXPECT_EQ(text.find("latency"), std::string::npos) << text;
  }
}

TEST(FirstMessages, OnlyPagesOfTheHostFault) {
  auto result = cold_run();
  for (auto& of : result.cases) of.parameters["memory"] = {"host", "cuda"};
  EXPECT_EQ(first_messages_of(blocks_of(result).front()).rows.front().at(7), "-");
}

TEST(FirstMessages, WhatIsMissingStaysUnknown) {
  auto result = cold_run();
  result.cases.resize(2);
  result.cases.front().state = CaseState::failed;
  result.cases.front().metrics.clear();
  const auto block = blocks_of(result).front();
  EXPECT_EQ(first_messages_of(block).rows.front().at(2), "-");
  EXPECT_EQ(pool_pays(block), "");
}

}  // namespace
}  // namespace ucxbench
