#include "harness/result/shows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/result/cases.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

const Json common = {{"api", "tag"}, {"memory", {"host", "cuda"}}, {"transports", {"shm", "tcp"}}};

Json with(const Json& more) {
  auto parameters = common;
  parameters.update(more);
  return parameters;
}

/// The edge of a tile of each rank, and the ranks, tell rows apart.
View made_up() {
  return {.kind = ViewKind::workload,
          .axes = {number_of_ranks(), {"edge", "edge", ShownAxis::Unit::plain}},
          .metrics = workload_metrics(),
          .amount = Amount{.parameter = "edge", .power = 2}};
}

std::vector<std::string> texts(const Shows& shows) {
  std::vector<std::string> all;
  for (const auto& axis : shows.axes) all.push_back(axis.text);
  return all;
}

TEST(Shows, AreSaidByADescriptionAndParameters) {
  const auto shows = shows_of(made_up(), "made-up", with({{"ranks", 4}, {"edge", 64}}));
  EXPECT_EQ(shows.title, "made-up tag, host to cuda, over shm+tcp");
  EXPECT_EQ(shows.ranks, 4U);
  EXPECT_EQ(texts(shows), (std::vector<std::string>{"4 ranks", "edge 64"}));
  ASSERT_TRUE(shows.scaling);
  EXPECT_EQ(shows.scaling->kind, "weak");
  EXPECT_EQ(shows.scaling->asked, "64");
}

TEST(Shows, ATitleEndsWithWhatTheBenchmarkTells) {
  auto view = made_up();
  view.told = [](const Json& parameters) { return ", edge " + parameters.at("edge").dump(); };
  EXPECT_EQ(shows_of(view, "made-up", with({{"edge", 64}})).title,
            "made-up tag, host to cuda, over shm+tcp, edge 64");
}

TEST(Shows, OfOneTableDifferInAxesAlone) {
  const auto block = [](const Json& parameters) {
    return shows_of(made_up(), "made-up", with(parameters)).block;
  };
  EXPECT_EQ(block({{"ranks", 4}, {"edge", 64}}), block({{"ranks", 1}, {"edge", 32}}));
  EXPECT_NE(block({{"ranks", 4}, {"steps", 1}}), block({{"ranks", 4}, {"steps", 2}}));
  EXPECT_NE(shows_of(made_up(), "a", common).block, shows_of(made_up(), "b", common).block);
}

TEST(Shows, WhatFollowsFromTheRanksIsAnAxisThatNamesNoRow) {
  const View square{.kind = ViewKind::workload,
                    .axes = {number_of_ranks()},
                    .amount = Amount{.parameter = "edge", .per_rank = false, .power = 2}};
  Case of;
  of.shows = shows_of(square, "x", with({{"ranks", 4}, {"edge", 4000}, {"scaling", "weak"}}));
  ASSERT_EQ(of.shows.axes.size(), 2U);
  EXPECT_TRUE(of.shows.axes[1].follows);
  EXPECT_EQ(row_of(of), "4 ranks");
  EXPECT_EQ(of.shows.scaling->asked, "2000");
  of.shows = shows_of(square, "x", with({{"ranks", 4}, {"edge", 4000}, {"scaling", nullptr}}));
  EXPECT_EQ(of.shows.axes.size(), 1U);
  EXPECT_EQ(of.shows.scaling->kind, "strong");
  EXPECT_EQ(of.shows.scaling->asked, "4000");
}

TEST(Shows, OfRowsPerRankAreAskedInAllForStrongScaling) {
  const View rows{.kind = ViewKind::workload, .amount = Amount{.parameter = "rows"}};
  const auto shows = shows_of(rows, "x", {{"ranks", 3}, {"rows", 1333333}, {"scaling", "strong"}});
  EXPECT_EQ(shows.scaling->asked, "4M");
}

TEST(Shows, AreTheSameFromAFile) {
  const auto shows = shows_of(made_up(), "made-up", with({{"ranks", 4}, {"edge", 64}}));
  EXPECT_EQ(to_json(shows_from(to_json(shows))), to_json(shows));
  for (const auto* odd : {"kind", "at_once"}) {
    auto json = to_json(shows);
    json[odd] = "odd";
    EXPECT_THROW(shows_from(json), std::exception) << odd;
  }
  auto json = to_json(shows);
  json["metrics"][0]["better"] = "odd";
  EXPECT_THROW(shows_from(json), std::exception);
}

TEST(Shows, SayWhatARateAddsUp) {
  auto shows = shows_of(made_up(), "made-up", common);
  shows.metrics = {metric_named("exchange_GBps", {.sum_of = SumOf::both_ways}),
                   metric_named("wall_ms")};
  auto json = to_json(shows);
  EXPECT_EQ(shows_from(json).metrics[0].sum_of, SumOf::both_ways);
  EXPECT_FALSE(json["metrics"][1].contains("sum_of")) << "a time";
  json["metrics"][0].erase("sum_of");
  EXPECT_EQ(shows_from(json).metrics[0].sum_of, SumOf::ranks) << "of a file from before";
}

TEST(Shows, SayWhichUseOfUcxIsUnusual) {
  auto view = made_up();
  view.usages = {{"threads", 1, "use fewer threads", true},
                 {"header_bytes", nullptr, "send none"},
                 {"buffer", "contiguous", "send one"}};
  const auto shows = shows_of(view, "made-up", with({{"threads", 2}, {"header_bytes", 64}}));
  auto json = to_json(shows);
  EXPECT_EQ(json.at("unusual"), Json::parse(R"([
      {"parameter": "threads", "usual": 1, "next": "use fewer threads", "rates_alone": true},
      {"parameter": "header_bytes", "usual": null, "next": "send none"}])"));
  EXPECT_EQ(to_json(shows_from(json)), json);
  json["unusual"][0].erase("usual");
  EXPECT_THROW(shows_from(json), std::exception);
  const auto usual = with({{"threads", 1}, {"header_bytes", nullptr}, {"buffer", "contiguous"}});
  EXPECT_FALSE(to_json(shows_of(view, "made-up", usual)).contains("unusual"));
}

TEST(Metric, SaysItsUnitAndDirectionByItsName) {
  const auto rate = metric_named("bandwidth_bidirectional_GBps");
  EXPECT_EQ(rate.title, "bandwidth bidirectional");
  EXPECT_EQ(rate.unit, "GB/s");
  EXPECT_EQ(rate.better, "higher");
  EXPECT_EQ(metric_named("message_rate_per_s").unit, "1/s");
  EXPECT_EQ(metric_named("message_rate_per_s").title, "message rate");
  EXPECT_EQ(metric_named("message_rate_per_s").better, "higher");
  EXPECT_EQ(metric_named("connect_ms").unit, "ms");
  EXPECT_EQ(metric_named("connect_ms").better, "lower");
  EXPECT_EQ(metric_named("fairness_ratio").unit, "ratio");
  EXPECT_EQ(metric_named("fairness_ratio").better, "higher");
}

ViewKind kind_of_older(const Json& parameters) {
  Case of;
  of.parameters = with(parameters);
  return shows_of_older(of).kind;
}

TEST(OlderRuns, AreReadByTheirParameters) {
  EXPECT_EQ(kind_of_older({{"bytes", 8}}), ViewKind::curve);
  EXPECT_EQ(kind_of_older({{"bytes", 8}, {"concurrent", "all"}}), ViewKind::matrix);
  EXPECT_EQ(kind_of_older({{"ranks", 2}, {"runs", 3}}), ViewKind::workload);
  EXPECT_EQ(kind_of_older({{"bytes", 8}, {"peers", 1}}), ViewKind::first_messages);
  Case matrix;
  matrix.parameters = with({{"bytes", 1 << 20}, {"concurrent", "one"}});
  matrix.metrics["message_rate_per_s"] = {};
  matrix.metrics["bandwidth_GBps"] = {};
  matrix.shows = shows_of_older(matrix);
  EXPECT_EQ(matrix.shows.at_once, Concurrent::one);
  EXPECT_EQ(row_of(matrix), "1 MiB, one pair");
  EXPECT_FALSE(shown_metric(matrix, "message_rate_per_s").judged);
  EXPECT_TRUE(shown_metric(matrix, "bandwidth_GBps").judged);
}

TEST(OlderRuns, OfOddParametersAreRead) {
  for (const auto& odd : {Json(nullptr), Json("x"), Json(-1), Json::array({1}), Json::object()}) {
    Case of;
    of.parameters = {
        {"bytes", odd}, {"runs", odd}, {"ranks", odd}, {"rows", odd}, {"scaling", odd}};
    of.shows = shows_of_older(of);
    EXPECT_EQ(of.shows.ranks, 1U) << odd;
    of.parameters = {{"bytes", odd}, {"concurrent", odd}};
    of.shows = shows_of_older(of);
    EXPECT_FALSE(bytes_of(of)) << odd;
  }
}

TEST(OlderRuns, HadPhasesWhoseKindIsInTheirNames) {
  const auto kinds_of = [](const std::vector<std::string>& names) {
    Json phases = Json::array();
    for (const auto& name : names) phases.push_back({{"name", name}});
    add_kinds_of_older(phases);
    std::vector<std::string> kinds;
    for (const auto& phase : phases) kinds.push_back(phase.at("kind").get<std::string>());
    return kinds;
  };
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(kinds_of({"partition", "shuffle", "build", "UCX, while computing"}),
            (Kinds{"computing", "waiting", "computing", "moving"}));
  EXPECT_EQ(kinds_of({"counts", "dispatch", "combine", "sockets, while computing"}),
            (Kinds{"exchanging", "exchanging", "exchanging", "moving"}));
  EXPECT_EQ(kinds_of({"gaps", "transferring", "waiting", "UCX, while computing"}),
            (Kinds{"gap", "exchanging", "exchanging", "moving"}));
  Json said = Json::array({{{"name", "shuffle"}, {"kind", "another"}}});
  add_kinds_of_older(said);
  EXPECT_EQ(said[0].at("kind"), "another");
  for (auto odd : {Json(), Json(1), Json("x"), Json::array({1, nullptr, "shuffle"})}) {
    const auto before = odd;
    add_kinds_of_older(odd);
    EXPECT_EQ(odd, before);
  }
}

TEST(OlderRuns, HadWaysWhosePartsHaveKnownNames) {
  Json entry = {
      {"ways", Json::array({{{"p50", 1}}, {{"communicating_ms", 2.0}, {"computing_ms", 1.0}}})}};
  add_parts_of_older(entry);
  EXPECT_EQ(entry.at("parts"), Json::array({"computing", "communicating"}));
  entry = {{"ways", Json::array({{{"p50", 1}}, {{"p50", 2}}})}};
  add_parts_of_older(entry);
  EXPECT_FALSE(entry.contains("parts"));
}

}  // namespace
}  // namespace ucxbench
