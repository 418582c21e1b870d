#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/refusal_for_test.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {
namespace {

Result small_result() {
  Case measured{.key = "pingpong/tag/host-host/tcp/8B",
                .benchmark = "pingpong",
                .parameters = {{"api", "tag"}, {"bytes", 8}, {"transports", {"tcp"}}},
                .state = CaseState::measured,
                .reason = {},
                .launches = {},
                .metrics = {},
                .path = {{"asked", {"tcp"}}, {"verdict", "as-asked"}},
                .verified = {.checked = 12, .errors = 0},
                .peak_buffer_bytes = 4096,
                .labels = {"vm"}};
  LaunchRecord record{.launch = 0, .iterations = 3, .messages = 64, .lanes = {"tcp/lo"}};
  record.cold.connect_us = 1234.5678;
  record.samples["latency_us"] = {
      .quantiles =
          {.count = 3, .min = 1.0 / 3, .p50 = 2, .p90 = {}, .p99 = {}, .p999 = {}, .max = 4},
      .seen = 3,
      .values = {1.0 / 3, 2, 4}};
  record.overheads["timestamp_ns"] = 7.25;
  measured.launches.push_back(record);
  measured.shows = shows_of_older(measured);
  summarize(measured);
  Case skipped{.key = "pingpong/tag/host-host/ib/8B", .benchmark = "pingpong"};
  skipped.parameters = {{"api", "tag"}, {"bytes", 8}, {"transports", {"ib"}}};
  skipped.state = CaseState::skipped;
  skipped.skip_cause = SkipCause::unavailable;
  skipped.reason = "cannot run here: no InfiniBand device";
  Result result;
  result.run = {{"id", "x"}, {"command", {"ucx-bench", "pingpong"}}, {"state", "complete"}};
  result.cases = {measured, skipped};
  return result;
}

std::string refusal(const std::string& text) {
  const auto what = refusal_by([&] { parse_result(text, "run.json"); });
  EXPECT_NE(what, "accepted") << text;
  return what;
}

// The launches of few pairs are spread over lines, those of many are a line each.
TEST(ResultJson, IsTheSameTextWithoutItsJsonAsAWhole) {
  auto result = small_result();
  EXPECT_EQ(run_text(result), to_text(to_json(result)));
  result.cases[0].launches.resize(1001, result.cases[0].launches[0]);
  EXPECT_EQ(run_text(result), to_text(to_json(result)));
  result.cases[0].launches.clear();
  EXPECT_EQ(run_text(result), to_text(to_json(result)));
  result.cases.clear();
  EXPECT_EQ(run_text(result), to_text(to_json(result)));
}

TEST(ResultJson, RoundTripLosesNothing) {
  const auto json = to_json(small_result());
  const auto again = parse_result(to_text(json), "run.json");
  EXPECT_EQ(to_json(again), json);
  EXPECT_EQ(to_text(to_json(again)), to_text(json));
  EXPECT_EQ(again.cases[0].launches[0].cold.connect_us, 1234.57);
  EXPECT_FALSE(again.cases[0].launches[0].cold.context_us);
  EXPECT_EQ(again.cases[1].reason, "cannot run here: no InfiniBand device");
}

TEST(ResultJson, FillsInWhatOlderFilesDoNotSay) {
  auto json = to_json(small_result());
  const Json phases = Json::array({{{"name", "shuffle"}, {"median_ms", 1.0}}});
  json["cases"][0]["phases"] = phases;
  json["cases"][0]["launches"][0]["workload"]["phases"] = phases;
  json["ablation"] =
      Json::array({{{"ways", Json::array({{{"waiting_ms", 1.0}}, {{"waiting_ms", 2.0}}})}}});
  const auto read = parse_result(json.dump(), "run.json");
  EXPECT_EQ(read.cases[0].phases[0].at("kind"), "waiting");
  EXPECT_EQ(read.cases[0].launches[0].workload.at("phases")[0].at("kind"), "waiting");
  EXPECT_EQ(read.ablation[0].at("parts"), Json::array({"waiting"}));
}

// Of before phases had intervals: the slowest rank was the first launch's.
TEST(ResultJson, FindsTheSlowestRankOfOlderFilesAnew) {
  auto json = to_json(small_result());
  const auto phase = [](double median_ms, int rank, double slowest_ms) {
    return Json{{"name", "build"},
                {"median_ms", median_ms},
                {"share", 0.5},
                {"slowest_rank", rank},
                {"slowest_ms", slowest_ms}};
  };
  auto& of = json["cases"][0];
  of["shows"]["ranks"] = 2;
  for (auto& metric : of["metrics"]) metric.erase("interval");
  auto launch = of["launches"][0];
  of["launches"] = Json::array();
  // By rank: 9 and 7, 1 and 5, 2 and 6.
  for (const auto& own : {phase(8, 0, 9), phase(3, 1, 5), phase(4, 1, 6)}) {
    launch["workload"] = {
        {"phases", Json::array({own})}, {"pairs", Json::array()}, {"exchange", Json::object()}};
    of["launches"].push_back(launch);
  }
  of["phases"] = Json::array({phase(4, 0, 6)});
  const auto read = parse_result(json.dump(), "run.json").cases[0].phases[0];
  EXPECT_EQ(read.at("slowest_rank"), 1);
  EXPECT_EQ(read.at("slowest_ms"), 6);
  EXPECT_EQ(read.at("median_ms"), 4);
  of["shows"]["ranks"] = 4;
  EXPECT_TRUE(parse_result(json.dump(), "run.json").cases[0].phases[0]["slowest_rank"].is_null());
}

TEST(ResultJson, HasNoLimitOfOneCoresOwnCaches) {
  auto json = to_json(small_result());
  const auto by_size = Json::array({{{"bytes", 8 << 20}, {"copy_GBps", 50}}});
  json["machine"]["hosts"] =
      Json::array({{{"memory_copy", {{"one_core", {{"by_size", by_size}}}}}}});
  auto& of = json["cases"][0];
  of["shows"]["axes"] = Json::array(
      {{{"name", "bytes"}, {"label", "size"}, {"value", 8192}, {"text", "8 KiB"}, {"unit", "B"}}});
  of["parameters"]["bytes"] = 8192;
  of["limits"] = Json::array({{{"source", "calibrated"}, {"class", "memory"}, {"GBps", 50}},
                              {{"source", "specification"}, {"class", "NV1"}, {"GBps", 25}}});
  EXPECT_EQ(parse_result(json.dump(), "run.json").cases[0].limits.size(), 1U);
  json["machine"]["hosts"][0]["memory_copy"]["between_cores"] = Json::array();
  EXPECT_EQ(parse_result(json.dump(), "run.json").cases[0].limits.size(), 2U);
}

TEST(ResultJson, HasNoTimeOfWhatOlderFilesDidNotMeasure) {
  auto json = to_json(small_result());
  json["cases"][0]["phases"] = Json::array({{{"name", "UCX, while computing"},
                                             {"kind", "moving"},
                                             {"median_ms", 0.0},
                                             {"share", 0.0},
                                             {"slowest_rank", 0},
                                             {"slowest_ms", 0.0}}});
  const auto phase = parse_result(json.dump(), "run.json").cases[0].phases[0];
  EXPECT_TRUE(phase.at("median_ms").is_null());
  EXPECT_TRUE(phase.at("slowest_rank").is_null());
}

TEST(ResultJson, RoundsToSixDigitsAndWritesUnknownAsNull) {
  auto result = small_result();
  result.cases[0].launches[0].samples["latency_us"].values.push_back(
      std::numeric_limits<double>::quiet_NaN());
  const auto launch = to_json(result).at("cases")[0].at("launches")[0];
  EXPECT_EQ(launch.at("samples").at("latency_us").dump(), "[0.333333,2.0,4.0,null]");
  EXPECT_TRUE(launch.at("cold").at("context_us").is_null());
  EXPECT_TRUE(launch.at("quantiles").at("latency_us").at("p99").is_null());
}

TEST(ResultJson, ACaseNotReachedIsSkippedWithTheReason) {
  Result result;
  result.cases.push_back({.key = "k", .benchmark = "pingpong", .parameters = Json::object()});
  const auto json = to_json(result).at("cases")[0];
  EXPECT_EQ(json.at("state"), "skipped");
  EXPECT_EQ(json.at("reason"), "not reached: the run ended before it");
}

TEST(ResultJson, TextKeepsListsAndShortObjectsOnOneLine) {
  EXPECT_EQ(
      to_text({{"numbers", {1, 2.5, nullptr}}, {"short", {{"a", 1}}}, {"none", Json::array()}}),
      "{\n  \"numbers\": [1, 2.5, null],\n  \"short\": {\"a\": 1},\n  \"none\": []\n}\n");
  EXPECT_EQ(
      to_text({{"cases", {Json{{"deep", {{"a", {1}}}}}}}}),
      "{\n  \"cases\": [\n    {\n      \"deep\": {\n        \"a\": [1]\n      }\n    }\n  ]\n}\n");
  EXPECT_EQ(to_text(Json("\xff")), "\"\xef\xbf\xbd\"\n");
}

TEST(ResultJson, RefusesWhatIsNotARunInOneLine) {
  const auto whole = to_text(to_json(small_result()));
  EXPECT_TRUE(
      refusal(whole.substr(0, whole.size() / 2)).starts_with("'run.json' is not whole JSON"));
  EXPECT_TRUE(refusal("").starts_with("'run.json' is empty")) << refusal("");
  EXPECT_TRUE(refusal("\x7f"
                      "ELF\x02")
                  .starts_with("'run.json' is not whole JSON"));
  for (const auto* foreign :
       {"[]", "3", R"({"context": {}, "benchmarks": []})", R"({"schema": 7})",
        R"({"schema": "ucx-bench/run/x"})", R"({"schema": "ucx-bench/run/0"})"}) {
    EXPECT_EQ(refusal(foreign),
              "'run.json' is not a ucx-bench run (no \"schema\": \"ucx-bench/run/1\"); give a file "
              "written by ucx-bench --json");
  }
  EXPECT_EQ(refusal(R"({"schema": "ucx-bench/run/1", "run": 1e999})"),
            "'run.json' is not a ucx-bench run (a number in it is too large for any); give a file "
            "written by ucx-bench --json");
  EXPECT_EQ(refusal(R"({"schema": "ucx-bench/run/2"})"),
            "'run.json' was made by a newer ucx-bench (ucx-bench/run/2, this one reads "
            "ucx-bench/run/1); update ucx-bench");
}

// Whoever copies or writes it calls itself for each level, and the stack has an end.
TEST(ResultJson, RefusesWhatIsNestedTooDeep) {
  const auto nested = [](int levels, const std::string& inner) {
    auto json = to_json(small_result());
    json["run"]["nested"] = 7;
    const auto count = static_cast<std::size_t>(levels);
    auto text = json.dump();
    return text.replace(text.find("\"nested\":7") + 9, 1,
                        std::string(count, '[') + inner + std::string(count, ']'));
  };
  EXPECT_NO_THROW(parse_result(nested(98, "1"), "run.json"));
  EXPECT_NO_THROW(parse_result(nested(1, "\"\\\"" + std::string(200, '[') + "\""), "run.json"));
  const std::string deep =
      "'run.json' is not a ucx-bench run (JSON of more than 100 levels); give a file written by "
      "ucx-bench --json";
  EXPECT_EQ(refusal(nested(99, "1")), deep);
  EXPECT_EQ(refusal(std::string(10'000'000, '[')), deep);
}

TEST(ResultJson, NamesWhatIsDamaged) {
  auto json = to_json(small_result());
  json["cases"][0]["state"] = "odd";
  EXPECT_EQ(
      refusal(json.dump()),
      "'run.json' is a damaged ucx-bench run (state 'odd' is not measured, skipped or failed);"
      " give it as ucx-bench --json wrote it");
  json = to_json(small_result());
  json["cases"][0].erase("metrics");
  EXPECT_NE(refusal(json.dump()).find("key 'metrics' not found"), std::string::npos);
  json = to_json(small_result());
  json["cases"][0]["verified"] = {{"checked", 3}, {"errors", 4}};
  EXPECT_NE(refusal(json.dump()).find("more messages with wrong data than were checked"),
            std::string::npos);
  json = to_json(small_result());
  json["run"] = 3;
  EXPECT_NE(refusal(json.dump()).find("run is of another type"), std::string::npos);
}

// Which of the two counts nobody can know: figures would be those of another case.
TEST(ResultJson, RefusesWhatStandsTwice) {
  const auto text = to_text(to_json(small_result()));
  const auto with = [&](const std::string& before, const std::string& added) {
    auto changed = text;
    return changed.replace(changed.find(before), 0, added + ", ");
  };
  for (const std::string key : {"cases", "parameters", "launches", "p50", "samples", "launch"}) {
    EXPECT_NE(refusal(with('"' + key + '"', '"' + key + "\": 0"))
                  .find("the key '" + key + "' stands twice"),
              std::string::npos);
  }
  auto result = small_result();
  result.cases.push_back(result.cases.front());
  EXPECT_NE(refusal(to_text(to_json(result)))
                .find("the case 'pingpong/tag/host-host/tcp/8B' is there twice"),
            std::string::npos);
}

TEST(ResultJson, RefusesPartsOfAnotherType) {
  for (const auto* part : {"phases", "exchange", "limits", "links", "sweep"}) {
    auto json = to_json(small_result());
    json["cases"][0][part] = 7;
    EXPECT_NE(refusal(to_text(json)).find(std::string(part) + " is of another type"),
              std::string::npos);
  }
  auto json = to_json(small_result());
  json["machine"]["hosts"] = "a";
  EXPECT_NE(refusal(to_text(json)).find("/machine/hosts is of another type"), std::string::npos)
      << refusal(to_text(json));
}

}  // namespace
}  // namespace ucxbench
