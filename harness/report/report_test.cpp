#include "harness/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "harness/analysis/findings.hpp"
#include "harness/core/every_for_test.hpp"
#include "harness/core/failure.hpp"
#include "harness/report/report_for_test.hpp"
#include "harness/report/sample.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/paths.hpp"

namespace ucxbench {
namespace {

TEST(Report, ListsItsFormatsInOrder) {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats()) {
    names.push_back(name);
    EXPECT_FALSE(format.description.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"bencher", "bigger-is-better", "csv", "gbench", "json",
                                             "junit", "markdown", "prometheus", "smaller-is-better",
                                             "table", "trace", "transfers"}));
}

TEST(Report, RefusesAnUnknownFormat) {
  try {
    render("tabel", sample_result());
    FAIL() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    EXPECT_TRUE(contains(failure.what(), "'table'")) << failure.what();
  }
}

TEST(Report, RefusesTwoFormatsOfOneName) {
  EXPECT_THROW(RegisterFormat({.name = "csv", .description = "", .render = nullptr}),
               std::logic_error);
}

void collect_places(const Json& json, const Json::json_pointer& place,
                    std::vector<Json::json_pointer>& places) {
  places.push_back(place);
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) collect_places(value, place / key, places);
    if (json.is_array()) collect_places(value, place / std::stoul(key), places);
  }
}

// Whoever edits a run file gets a refusal or a report, never another exception.
// What a workload's case has beside a ping-pong's.
void make_workload(Case& of) {
  of.parameters["runs"] = 3;
  of.parameters["ignore_bytes"] = 1048576;
  of.phases = {{{"name", "shuffle"},
                {"kind", "waiting"},
                {"median_ms", 1.5},
                {"share", 0.5},
                {"slowest_rank", 1},
                {"slowest_ms", 2.5}}};
  of.exchange = {{"bytes", 1000.0},        {"input_bytes", 4000.0}, {"alone_GBps", 2.0},
                 {"busy_ms", 1.0},         {"exposed_ms", 0.5},     {"overlap", 0.5},
                 {"egress_imbalance", 1.0}};
  of.metrics["wall_ms"] = of.metrics.at("latency_us");
  of.shows = shows_of_older(of);
}

class AnythingAnywhere : public testing::TestWithParam<bool> {};

TEST_P(AnythingAnywhere, IsSurvived) {
  auto small = sample_of_pairs();
  small.cases.resize(1);
  if (GetParam()) make_workload(small.cases[0]);
  small.cases[0].launches.resize(1);
  for (auto& record : small.cases[0].launches) {
    for (auto& [metric, samples] : record.samples) samples.values.resize(1);
  }
  small.run["check"] = {{"file", "site.toml"},
                        {"verdict", "missed"},
                        {"limits", Json::array({{{"place", "site.toml:1"},
                                                 {"transports", "tcp"},
                                                 {"limit", "min_GBps"},
                                                 {"expected", 2},
                                                 {"measured", 1},
                                                 {"src", 0},
                                                 {"dst", 1},
                                                 {"verdict", "missed"}}})}};
  const auto whole = to_json(small);
  std::vector<Json::json_pointer> places;
  collect_places(whole, Json::json_pointer(), places);
  // In turn: all of them everywhere take sanitizers minutes.
  const std::array odd = {Json(nullptr), Json("\xff\n"), Json::array({1})};
  std::size_t presented = 0;
  for (std::size_t at = GetParam() ? 1 : 0; at < places.size(); at += every_trial) {
    auto json = whole;
    json[places[at]] = odd[at % odd.size()];
    try {
      const auto result = parse_result(to_text(json), "odd");
      for (const auto& [name, format] : formats()) {
        // Those of the transfer log, which lies in a file of its own.
        if (name != "trace" && name != "transfers") format.render(result, {});
      }
      ++presented;
    } catch (const Failure&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << places[at].to_string() << ": " << error.what();
    }
  }
  EXPECT_GT(presented, 50 / every_trial);  // of another type is refused before that
}

INSTANTIATE_TEST_SUITE_P(PingPongAndWorkload, AnythingAnywhere, testing::Bool());
/// Of a line by RFC 4180.
int commas_outside_quotes(const std::string& line) {
  bool quoted = false;
  int count = 0;
  for (const char c : line) {
    quoted ^= c == '"';
    count += c == ',' && !quoted ? 1 : 0;
  }
  return count;
}

/// One case about which there is everything to say, and a check of it.
Result with_every_fact() {
  auto result = sample_result();
  result.cases.resize(1);
  auto& of = result.cases[0];
  of.labels = {"same-gpu", "soft-roce"};
  for (auto& record : of.launches) record.path["carried_by"] = {{"ib", 0.75}, {"tcp", 0.25}};
  sum_paths(of);
  of.parameters["odd"] = "a \"quoted\", value";
  result.run["check"] = {{"file", "site.toml"},
                         {"verdict", "missed"},
                         {"limits", Json::array({{{"place", "site.toml:1"},
                                                  {"transports", "tcp"},
                                                  {"memory", "host"},
                                                  {"limit", "min_GBps"},
                                                  {"expected", 2},
                                                  {"measured", 1},
                                                  {"src", 0},
                                                  {"dst", 1},
                                                  {"verdict", "missed"}}})}};
  return result;
}

TEST(Facts, OfARowAreThoseOfItsLaunch) {
  auto result = sample_result();
  result.cases[0].launches[1].path["carried_by"] = {{"rare", 1.0}};
  const auto text = render("csv", result);
  EXPECT_TRUE(contains(text, ",us,rare,vm,"));
  EXPECT_TRUE(contains(text, ",us,tcp,vm,")) << "of the other launches";
}

// Each fact is in every output that has a place for it: of a check, whose rows are limits, no
// parameters and no interval of a case.
TEST(Facts, AreInEveryOutput) {
  const auto result = with_every_fact();
  const std::vector<std::string> of_run = {"ib 75 %, tcp 25 %", "vm, same-gpu, soft-roce",
                                           in_words(quality_of(result))};
  const std::vector<std::string> of_row = {"12.0032", "12.6034", "us", "quoted"};
  for (const auto* name : {"csv", "gbench", "smaller-is-better", "junit", "prometheus"}) {
    const auto text = render(name, result);
    for (const auto& fact : of_run) EXPECT_TRUE(contains(text, fact)) << name << ": " << fact;
    const bool limits = name == std::string("junit") || name == std::string("prometheus");
    for (const auto& fact : of_row) {
      EXPECT_TRUE(limits || contains(text, fact)) << name << ": " << fact << "\n" << text;
    }
  }
  // A rate and a time, each in its own file; numbers alone have a place in Bencher's.
  EXPECT_TRUE(contains(render("bigger-is-better", result), "vm, same-gpu, soft-roce"));
  EXPECT_TRUE(contains(render("bencher", result),
                       "\"pingpong/tag/host-host/tcp/8B [vm, same-gpu, soft-roce]\""));
  auto plain = sample_result();
  plain.machine.erase("labels");
  EXPECT_EQ(render("bencher", plain).find('['), std::string::npos);
}

// The machine's and the case's, also in the formats that are added later.
TEST(Facts, LabelsOfMachineAndCaseAreInEveryFormat) {
  auto result = with_every_fact();
  result.machine["labels"] = {"oversubscribed", "emulated-cpu"};
  for (const auto& [name, format] : formats()) {
    // They show the transfer log, which lies in a file of its own.
    if (name == "trace" || name == "transfers") continue;
    const auto text = format.render(result, {});
    for (const auto* label : {"oversubscribed", "emulated-cpu", "same-gpu", "soft-roce"}) {
      EXPECT_TRUE(contains(text, label)) << name << ": " << label;
    }
  }
}

TEST(Markdown, BeginsWithTheVerdictOfACheck) {
  auto result = with_every_fact();
  EXPECT_TRUE(render("markdown", result)
                  .starts_with("### FAIL: 0 of 1 limits of site.toml met\n\n- **FAIL**: tcp, host: "
                               "1.00 GB/s, limit "))
      << render("markdown", result);
  result.run["check"]["verdict"] = "met";
  result.run["check"]["limits"][0]["verdict"] = "met";
  EXPECT_TRUE(render("markdown", result)
                  .starts_with("### PASS: 1 of 1 limits of site.toml met\n\n- **PASS**: "));
}

TEST(Csv, HasOneRowPerCaseLaunchAndMetric) {
  const auto lines = lines_of(render("csv", sample_result()));
  EXPECT_EQ(lines[0],
            "run_id,key,benchmark,api,memory,transports,bytes,state,reason,launch,src,dst,metric,"
            "samples_seen,min,p50,p90,p99,p999,max,unit,transport_used,labels,quality,parameters,"
            "interval_low,interval_high,interval_kind\r");
  EXPECT_TRUE(lines[3].starts_with(
      "20260102T030405Z-pingpong,pingpong/tag/host-host/tcp/8B,pingpong,tag,host+host,tcp,8,"
      "measured,,0,0,1,latency_us,100,11.403,12.0032,12.4833,12.5914,,12.6034,us,tcp,vm,"))
      << lines[3];
  EXPECT_TRUE(lines[3].ends_with(",12.0032,12.6034,ci95\r")) << lines[3];
  // Five measured cases of six launches and four metrics; four cases without launches.
  EXPECT_EQ(lines.size(), 1 + 5 * 6 * 4 + 4);
  for (const auto& line : lines) EXPECT_EQ(commas_outside_quotes(line), 27) << line;
}

TEST(Csv, SaysOfWhichCasesNoMachineGivesTheFigures) {
  auto result = sample_result();
  const auto& key = result.cases[0].key;
  result.cases[0].launches[1].samples.at("latency_us").quantiles.min = -1;
  std::size_t rows = 0;
  for (const auto& line : lines_of(render("csv", result))) {
    const bool own = contains(line, "," + key + ",");
    EXPECT_EQ(contains(line, "; impossible: "), own) << line;
    rows += own ? 1 : 0;
  }
  EXPECT_EQ(rows, 24U);
}

TEST(Csv, QuotesByRfc4180) {
  auto result = sample_result();
  result.cases.resize(3);
  result.cases[2].reason = "no \"mlx5\", no luck";
  const auto lines = lines_of(render("csv", result));
  EXPECT_TRUE(lines.back().starts_with(
      "20260102T030405Z-pingpong,pingpong/tag/host-host/ib/8B,pingpong,tag,host+host,ib,8,"
      "skipped,\"no \"\"mlx5\"\", no luck\",,,,,,,,,,,,,,vm,"))
      << lines.back();
}

TEST(Json, IsTheRunFile) {
  const auto text = render("json", sample_result());
  EXPECT_EQ(to_text(to_json(parse_result(text, "sample"))), text);
}

TEST(Markdown, HasTablesAndEscapesMarkup) {
  auto result = sample_result();
  result.cases[2].reason = "no <ib> | *";
  const auto text = render("markdown", as_read(result));
  EXPECT_TRUE(text.starts_with("### pingpong tag, host to host, over tcp\n\n"));
  EXPECT_TRUE(contains(text, "\n- **note**: run: timer overhead or noise up to 5.0 %"));
  EXPECT_TRUE(text.ends_with(" \\[timing-cost\\]\n"));
  EXPECT_TRUE(contains(text, "### pingpong tag, host to host, over tcp\n\n2 ranks; CPUs 0, 2;"));
  EXPECT_TRUE(
      contains(text,
               "| size | latency one way, us<br>p50 | 95% CI | p90 | p99 | p99.9 | min | "
               "max | GB/s received<br>0->1 | 95% CI | both ways | 95% CI | msg/s<br>p50 | 95% CI "
               "|\n| ---: | ---: |"));
  EXPECT_TRUE(contains(text, "| 8 B | 12.30 | 12.00..12.60 | 12.8 | 12.9 | - | 11.4 | 13.2 | "));
  EXPECT_TRUE(contains(text, "- skipped 8 B: no \\<ib> \\| \\*\n"));
  EXPECT_TRUE(
      contains(text, "- **software**: ucx-bench 0.1.0 (commit 1a2b3c4d5e6f), UCX 1.13.1\n"));
}

TEST(Gbench, HasRepetitionsAndAggregates) {
  const auto json = Json::parse(render("gbench", sample_result()));
  EXPECT_EQ(json.at("context").at("host_name"), "node07");
  EXPECT_EQ(json.at("context").at("not_measured").size(), 4U);
  std::vector<Json> rows;
  for (const auto& row : json.at("benchmarks")) {
    if (row.at("run_name") == "pingpong/tag/host-host/tcp/1MiB/bandwidth_GBps") rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 6U + 4U);  // launches; mean, median, stddev, cv
  EXPECT_EQ(rows[5].at("repetition_index"), 5);
  EXPECT_EQ(rows[5].at("iterations"), 6400);
  // One message takes its bytes over the rate.
  EXPECT_NEAR(rows[0].at("real_time").get<double>() * rows[0].at("bytes_per_second").get<double>(),
              1048576 * 1e6, 1);
  EXPECT_EQ(rows[7].at("name"), "pingpong/tag/host-host/tcp/1MiB/bandwidth_GBps_median");
  EXPECT_EQ(rows[7].at("run_type"), "aggregate");
  // The times of the launches are 1.00, 1.01 … 1.05 of the first.
  EXPECT_NEAR(rows[7].at("real_time").get<double>(), 1.025 * rows[0].at("real_time").get<double>(),
              1e-6);
  EXPECT_NEAR(rows[9].at("real_time").get<double>(), 0.018708 / 1.025, 1e-5);
}

TEST(Gbench, HasTheTimesOfAWorkload) {
  const auto result = sample_of_workload();
  const auto json = Json::parse(render("gbench", result));
  std::map<std::string, std::vector<Json>> rows;
  for (const auto& row : json.at("benchmarks")) {
    const auto name = row.at("name").get<std::string>();
    rows[name.substr(name.rfind('/') + 1)].push_back(row);
  }
  ASSERT_EQ(rows["wall_ms"].size(), 6 * result.cases.size());
  const auto& first = result.cases[0];
  EXPECT_NEAR(rows["wall_ms"][0].at("real_time").get<double>(),
              1e3 * first.metrics.at("wall_ms").launch_medians[0], 1e-6);
  EXPECT_EQ(rows["wall_ms"][0].at("iterations"), first.launches[0].iterations);
}

}  // namespace
}  // namespace ucxbench
