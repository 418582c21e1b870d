#include "harness/report/versions_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "harness/report/comparison_view.hpp"

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
  series.ratio = {.estimate = ratio, .interval = std::array{0.9 * ratio, 1.1 * ratio}};
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

TEST(VersionsView, APairThatFailedOrIsMissingHasARow) {
  for (const auto change : {Change::failed, Change::missing}) {
    SeriesChange pair{.key = "p2p/tcp/1MiB", .metric = "bandwidth_GBps", .pair = RowPair{0, 1}};
    pair.change = change;
    pair.why = "a rate of 0 in each launch of the new run";
    auto all = versions_of(Change::unchanged, 1);
    add_version(all, "1.18", {}, {}, Comparison{.series = {pair}});
    for (const auto& text : {versions_table(all), versions_markdown(all)}) {
      EXPECT_THAT(text, HasSubstr("p2p/tcp/1MiB pair 0->1"));
      EXPECT_THAT(text, HasSubstr(std::string(to_string(change))));
      EXPECT_THAT(text, HasSubstr("1.18: p2p/tcp/1MiB pair 0->1: a rate of 0 in each launch"));
    }
  }
}

TEST(VersionsView, AFigureHasItsIntervalAndItsLabels) {
  SeriesChange series{.key = "pingpong/tcp/1MiB", .metric = "latency_us", .labels = "vm"};
  series.ratio = {.estimate = 2, .interval = std::array{1.9, 2.2}};
  auto all = versions_of(Change::unchanged, 1);
  add_version(all, "1.20", {}, {}, Comparison{.series = {series}});
  for (const auto& text : {versions_table(all), versions_markdown(all)}) {
    EXPECT_THAT(text, HasSubstr("99.5% CI"));
    EXPECT_THAT(text, HasSubstr("+90.0..+120.0"));
    EXPECT_THAT(text, HasSubstr("1.20: labels: vm"));
  }
}

TEST(VersionsView, WhatDidNotChangeHasNoRemark) {
  EXPECT_THAT(versions_table(versions_of(Change::unchanged, 1.001)), Not(HasSubstr("->")));
}

TEST(VersionsView, EachChangeStandsBesideItsOwnBase) {
  auto all = versions_of(Change::improved, 0.5);
  SeriesChange series;
  series.key = "pingpong/tcp/1MiB";
  series.metric = "latency_us";
  series.better = "lower";
  series.change = Change::inconclusive;
  // By its launches alone it would have got slower.
  series.base = 604;
  series.now = 610;
  series.matched_base = 600;
  series.ratio = {.estimate = 0.25, .interval = std::array{0.2, 1.4}};
  add_version(all, "1.20", {}, {}, Comparison{.series = {series}});
  const auto& cells = all.at("rows").at(0).at("cells");
  for (const auto* version : {"1.18", "1.20"}) {
    const auto& cell = cells.at(version);
    EXPECT_NEAR(cell.at("new").get<double>() / cell.at("base").get<double>(),
                cell.at("ratio").get<double>(), 1e-9);
  }
  EXPECT_EQ(cells.at("1.20").at("plain_new"), 610);
  for (const auto& text : {versions_table(all), versions_markdown(all)}) {
    for (const auto* figure : {"200.0", "100.0", "600.0", "150.0", "-50.0", "-75.0"})
      EXPECT_THAT(text, HasSubstr(figure));
    EXPECT_THAT(text, HasSubstr("1.20: nothing was decided: 1 of 1 row is inconclusive"));
  }
}

TEST(VersionsView, AChangeWithoutAnIntervalIsNoFigure) {
  Comparison comparison;
  SeriesChange series;
  series.key = "pingpong/tcp/8B";
  series.metric = "latency_us";
  series.change = Change::inconclusive;
  series.base = series.matched_base = 3;
  series.now = series.matched_now = 4;
  series.ratio.estimate = 4.0 / 3;
  comparison.series = {series};
  auto all = versions_of(Change::unchanged, 1.0);
  add_version(all, "1.20", {}, {}, comparison);
  EXPECT_THAT(versions_table(all), Not(HasSubstr("+33.3")));
  EXPECT_THAT(comparison_table(comparison), Not(HasSubstr("+33.3")));
}

TEST(VersionsView, MarkdownHasARowForEachCase) {
  const auto text = versions_markdown(versions_of(Change::improved, 0.5));
  EXPECT_THAT(text, HasSubstr("-50.0"));
  EXPECT_THAT(text, HasSubstr("improved"));
}

}  // namespace
}  // namespace ucxbench
