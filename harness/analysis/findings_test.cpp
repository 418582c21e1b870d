#include "harness/analysis/findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/analysis/annotate.hpp"
#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

TEST(Rules, HaveNamesOfTheirOwnAndAreWorstFirst) {
  std::set<std::string_view> ids;
  for (const auto& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.description.empty());
  }
  EXPECT_TRUE(std::ranges::is_sorted(rules(), {}, &Rule::severity));
}

TEST(Findings, OfARunWithoutTroubleAreNone) {
  EXPECT_EQ(findings_of(made_run()), Json::array());
  EXPECT_EQ(findings_of(Result{}), Json::array());
}

TEST(Findings, HaveWhatTheRunFileNames) {
  auto result = made_run();
  result.run["state"] = "interrupted";
  EXPECT_EQ(findings_of(result),
            Json::array({{{"id", "partial-run"},
                          {"severity", "error"},
                          {"subject", "run"},
                          {"evidence", "the run is interrupted: results are partial"},
                          {"cost_ms", nullptr},
                          {"next", "run again for the missing cases"}}}));
}

TEST(Findings, OfOneRuleAreEightAtMost) {
  auto result = made_run();
  auto& hosts = result.machine["hosts"];
  for (int host = 0; host < 10; ++host) {
    hosts[static_cast<std::size_t>(host)] = {{"name", "host" + std::to_string(host)},
                                             {"governor", "invented" + std::to_string(host)}};
  }
  const auto findings = findings_of(result);
  ASSERT_EQ(findings.size(), 8U);
  EXPECT_TRUE(findings[7]["evidence"].get<std::string>().ends_with("; and 2 more of this kind"));
}

TEST(Findings, OfARunThatIsReadAreThoseOfTodaysRules) {
  auto result = made_run();
  result.run["state"] = "interrupted";
  result.findings = {{{"id", "of-an-older-rule"}, {"severity", "error"}}};
  judge_anew(result);
  EXPECT_EQ(result.findings, findings_of(result));
  EXPECT_EQ(result.findings.at(0).at("id"), "partial-run");
}

TEST(Findings, ThatAreNotesSpeakNotAgainstMeasuring) {
  const auto finding = [](const char* id, const char* severity) {
    return Json{{"id", id}, {"severity", severity}};
  };
  EXPECT_EQ(
      reasons_against_measuring({finding("small-shm", "warning"), finding("small-shm", "warning"),
                                 finding("busy-host", "warning"), finding("no-turbo", "note")}),
      (std::vector<std::string>{"small-shm", "busy-host"}));
  EXPECT_TRUE(reasons_against_measuring(Json::array({finding("no-turbo", "note")})).empty());
  EXPECT_TRUE(reasons_against_measuring(Json::array()).empty());
}

TEST(Quality, IsAsTheWorstOfItsReasons) {
  const auto finding = [](const char* id, const char* severity, const char* evidence) {
    return Json{{"id", id}, {"severity", severity}, {"evidence", evidence}};
  };
  auto result = made_run();
  result.machine["labels"] = Json::array();
  const auto with = [&](const Json& findings) {
    result.findings = findings;
    return quality_of(result);
  };
  const auto other = finding("far-nic", "warning", "uses ib1");
  EXPECT_EQ(with(Json::array({other})).level, "good");
  const auto few = finding("few-launches", "note", "2 launches give no 95 % interval");
  EXPECT_EQ(with(Json::array({few})).level, "fair");
  const auto busy = finding("busy-host", "warning", "load average 3 on 2 CPUs: no CPU is left");
  const auto poor = with(Json::array({few, busy, other, busy}));
  EXPECT_EQ(poor.level, "poor");
  EXPECT_EQ(poor.reasons, (std::vector<std::string>{"2 launches give no 95 % interval",
                                                    "load average 3 on 2 CPUs"}));
  result.machine["labels"] = {"vm"};
  EXPECT_EQ(with(Json::array()).level, "fair");
  EXPECT_EQ(with(Json::array({busy})).level, "poor");
  result.cases.resize(1);
  result.cases[0].verified = {.checked = 1, .errors = 1};
  const auto failed = with(Json::array({busy}));
  EXPECT_EQ(failed.level, "failed");
  EXPECT_TRUE(failed.reasons.front().ends_with(" did not pass")) << failed.reasons.front();
}

}  // namespace
}  // namespace ucxbench
