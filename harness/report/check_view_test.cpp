#include "harness/report/check_view.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/report/report.hpp"

namespace ucxbench {
namespace {

Json limit(const std::string& name, const Json& expected, const Json& measured,
           const std::string& verdict) {
  return {{"place", "site.toml:3"},
          {"transports", "tcp"},
          {"memory", "host"},
          {"class", nullptr},
          {"limit", name},
          {"expected", expected},
          {"measured", measured},
          {"src", 0},
          {"dst", 1},
          {"host", nullptr},
          {"peer", nullptr},
          {"verdict", verdict},
          {"why", nullptr}};
}

Result checked(const Json& limits) {
  Result result;
  result.run = {{"id", "1<2&3"},
                {"started_utc", "2026-01-02T03:04:05Z"},
                {"finished_utc", "2026-01-02T03:04:35Z"},
                {"check", {{"file", "site.toml"}, {"verdict", "missed"}, {"limits", limits}}}};
  result.machine = {{"hosts", Json::array({{{"name", "node\"0\\"}}})}};
  return result;
}

TEST(CheckView, SaysOneLimitInALine) {
  auto of = limit("min_GBps", 2.0, 2.31, "met");
  EXPECT_EQ(limit_in_words(of), "2.31 GB/s, limit >= 2 (+16 %), slowest pair 0->1");
  EXPECT_EQ(limit_subject(of), "tcp, host");
  of["host"] = "a";
  of["verdict"] = "missed";
  EXPECT_EQ(limit_in_words(of),
            "2.31 GB/s, limit >= 2 (+16 %), slowest pair 0->1 (a) [site.toml:3]");
  of["peer"] = "b";
  of["class"] = "NET";
  EXPECT_NE(limit_in_words(of).find("0->1 (a->b)"), std::string::npos);
  EXPECT_EQ(limit_subject(of), "tcp, host, NET");
  EXPECT_EQ(limit_in_words(limit("path", {"shm"}, 0.999, "met")), "99 % over shm, 0->1");
}

TEST(CheckView, NamesOutliersAndNothingElse) {
  auto result = checked(Json::array());
  EXPECT_TRUE(outliers_in_words(result).empty());
  for (const auto* id : {"busy-host", "slow-link", "small-shm", "slow-host"}) {
    result.findings.push_back({{"id", id}, {"evidence", std::string("of ") + id}});
  }
  EXPECT_EQ(outliers_in_words(result), (std::vector<std::string>{"of slow-link", "of slow-host"}));
}

TEST(JUnit, HasATestCaseForEachLimit) {
  auto unknown = limit("path", {"tcp"}, nullptr, "inconclusive");
  unknown["why"] = "a < b & \x01\"c\"";
  const auto xml = render("junit", checked({limit("max_us", 9.0, 4.5, "met"),
                                            limit("min_GBps", 2.0, 1.0, "missed"), unknown}));
  EXPECT_NE(xml.find(R"(tests="3" failures="1" errors="1")"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<testcase classname=\"node&quot;0\\\" name=\"tcp, host: max_us 9.0 "
                     "(site.toml:3)\" time=\"0\"/>"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<failure type=\"missed\" message=\"1.00 GB/s, limit &gt;= 2 (-50 %), slowest "
                     "pair 0-&gt;1 [site.toml:3]\">"),
            std::string::npos)
      << xml;
  EXPECT_NE(
      xml.find("message=\"path, pair 0-&gt;1: a &lt; b &amp; \\x01&quot;c&quot; [site.toml:3]\""),
      std::string::npos)
      << xml;
  EXPECT_NE(xml.find("timestamp=\"2026-01-02T03:04:05\""), std::string::npos);
  EXPECT_NE(xml.find("value=\"1&lt;2&amp;3\""), std::string::npos);
}

TEST(JUnit, NamesTheHostsOfALimit) {
  auto between = limit("min_GBps", 2.0, 1.0, "missed");
  between["host"] = "a";
  between["peer"] = "b";
  EXPECT_NE(render("junit", checked(Json::array({between}))).find("classname=\"a-&gt;b\""),
            std::string::npos);
}

Result checked_over(int hosts, const char* slow) {
  auto result = checked(Json::array({limit("min_GBps", 2.0, 4.0, "met")}));
  result.machine["hosts"] = Json::array();
  for (int host = 0; host < hosts; ++host) {
    result.machine["hosts"].push_back({{"name", fmt::format("node{}", host)}});
  }
  if (slow != nullptr) result.findings = {{{"id", "slow-host"}, {"evidence", slow}}};
  return result;
}

TEST(JUnit, HasTheOutliersAndHowLongTheCheckTook) {
  const auto xml = render("junit", checked_over(3, "node2 sends at 40 % of <the median>"));
  EXPECT_NE(xml.find("<system-out>slow: node2 sends at 40 % of &lt;the median&gt;\n</system-out>"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(tests="1" failures="0" errors="0" time="30">)"), std::string::npos) << xml;
}

TEST(Prometheus, CountsOutliersWhereTheyCanBeTold) {
  const auto has = [](const Result& result, const char* value) {
    return render("prometheus", result)
               .find(fmt::format("ucxbench_check_slow{{expectations=\"site.toml\"}} {}", value)) !=
           std::string::npos;
  };
  EXPECT_TRUE(has(checked_over(3, "node2 sends at 40 % of the median"), "1\n"));
  EXPECT_TRUE(has(checked_over(3, nullptr), "0\n"));
  EXPECT_FALSE(has(checked_over(2, nullptr), ""));
}

TEST(Prometheus, HasBaseUnits) {
  const auto text =
      render("prometheus",
             checked({limit("max_us", 9.0, 4.5, "met"), limit("min_GBps", 2.0, 1.25, "missed")}));
  const std::string labels =
      R"({host="node\"0\\",expect="site.toml:3",limit="min_GBps",transports="tcp",memory="host",)"
      R"(class=""})";
  EXPECT_NE(text.find("ucxbench_check_bandwidth_bytes_per_second" + labels + " 1.25e+09\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("ucxbench_check_limit_met" + labels + " 0\n"), std::string::npos);
  EXPECT_NE(text.find("ucxbench_check_latency_seconds{"), std::string::npos);
  EXPECT_NE(text.find(" 4.5e-06\n"), std::string::npos);
  EXPECT_EQ(text.find("ucxbench_check_path_ratio"), std::string::npos) << "none has one";
  EXPECT_NE(text.find("ucxbench_check_timestamp_seconds{expectations=\"site.toml\"} 1767323075\n"),
            std::string::npos)
      << text;
}

TEST(CheckFormats, WantARunOfCheck) {
  EXPECT_THROW(render("junit", Result{}), Failure);
  EXPECT_THROW(render("prometheus", Result{}), Failure);
}

}  // namespace
}  // namespace ucxbench
