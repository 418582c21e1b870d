#include "harness/report/versions_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ucxbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result run_with(const std::string& protocol, const std::string& range) {
  Case of;
  of.key = "pingpong/tcp/1MiB";
  of.state = CaseState::measured;
  LaunchRecord launch;
  launch.lanes = {"tcp/lo"};
  launch.path["protocols"] = {
      {{"use", "latency"}, {"protocol", protocol}, {"device", "tcp/lo"}, {"range", range}},
      {{"use", "counted"}, {"protocol", "another"}, {"device", "tcp/lo"}, {"range", "1..2"}}};
  of.launches = {launch};
  Case skipped;
  skipped.key = "pingpong/shm/8B";
  skipped.state = CaseState::skipped;
  skipped.reason = "no route";
  Result run;
  run.cases = {of, skipped};
  return run;
}

Json versions_of(Change change, double ratio) {
  Comparison comparison;
  SeriesChange series;
  series.key = "pingpong/tcp/1MiB";
  series.metric = "latency_us";
  series.better = "lower";
  series.change = change;
  series.base = series.matched_base = 200;
  series.now = series.matched_now = 200 * ratio;
  series.ratio.estimate = ratio;
  SeriesChange gone;
  gone.key = "pingpong/shm/8B";
  gone.metric = "latency_us";
  gone.change = Change::missing;
  comparison.series = {series, gone};
  Json all = {{"versions",
               {{{"name", "1.13"}, {"problem", nullptr}, {"failed", Json::object()}},
                {{"name", "1.18"}, {"problem", nullptr}, {"failed", Json::object()}},
                {{"name", "1.20"},
                 {"problem", "UCX does not start"},
                 {"failed", {{"pingpong/tcp/1MiB", "no connection"}}}}}},
              {"rows", Json::array()}};
  add_version(all, "1.18", run_with("zero-copy", "1M"), run_with("fragments", "1M"), comparison);
  return all;
}

TEST(VersionsView, WayIsOfTheMetricAlone) {
  const auto run = run_with("zero-copy", "64K..inf");
  EXPECT_EQ(way_of(run.cases[0], "latency_us"), "zero-copy by tcp/lo, 64K..inf; lanes tcp/lo");
  EXPECT_EQ(way_of(run.cases[0], "bandwidth_GBps"), "lanes tcp/lo");
  EXPECT_EQ(way_of(run.cases[1], "latency_us"), "");
}

TEST(VersionsView, AChangeStandsBesideHowTheMessagesWent) {
  const auto text = versions_table(versions_of(Change::regressed, 4.2));
  EXPECT_THAT(text, HasSubstr("+320.0"));
  EXPECT_THAT(text, HasSubstr("regressed"));
  EXPECT_THAT(text, HasSubstr("zero-copy by tcp/lo, 1M; lanes tcp/lo -> "));
  EXPECT_THAT(text, HasSubstr("! 1.20: UCX does not start"));
  EXPECT_THAT(text, HasSubstr("! 1.20: pingpong/tcp/1MiB: no connection"));
  EXPECT_THAT(text, HasSubstr("  failed\n"));
  EXPECT_THAT(text, HasSubstr("! 1.18: pingpong/shm/8B: no route"));
}

TEST(VersionsView, WhatDidNotChangeHasNoRemark) {
  EXPECT_THAT(versions_table(versions_of(Change::unchanged, 1.001)), Not(HasSubstr("->")));
}

TEST(VersionsView, MarkdownHasARowForEachCase) {
  const auto text = versions_markdown(versions_of(Change::improved, 0.5));
  EXPECT_THAT(text, HasSubstr("-50.0"));
  EXPECT_THAT(text, HasSubstr("improved"));
}

}  // namespace
}  // namespace ucxbench
