#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/report/report.hpp"
#include "harness/report/sample.hpp"

namespace ucxbench {
namespace {

Json exported(const std::string& format, const Result& result = sample_result()) {
  return Json::parse(render(format, result));
}

TEST(Trackers, PartTimesFromRates) {
  const auto times = exported("smaller-is-better");
  const auto rates = exported("bigger-is-better");
  // Five measured cases: one time, and two of the four rates that a case has.
  EXPECT_EQ(times.size(), 5U);
  EXPECT_EQ(rates.size(), 10U);
  for (const auto& row : times) EXPECT_EQ(row.at("unit"), "us");
  for (const auto& row : rates) EXPECT_EQ(row.at("unit"), "GB/s");
}

TEST(Trackers, RowsSayValueAndInterval) {
  const auto row = exported("smaller-is-better").at(0);
  EXPECT_EQ(row.at("name"), "pingpong/tag/host-host/tcp/8B/latency_us");
  EXPECT_NEAR(row.at("value").get<double>(), 12.30, 0.01);
  EXPECT_EQ(row.at("range"), "± 0.3");
  const auto extra = row.at("extra").get<std::string>();
  EXPECT_TRUE(extra.starts_with("6 launches; unit us; transport_used tcp; labels vm; ")) << extra;
  EXPECT_TRUE(extra.ends_with("; ci95 12.0032..12.6034")) << extra;
}

TEST(Trackers, BencherHasAMeasurePerMetric) {
  const auto benchmarks = exported("bencher");
  EXPECT_EQ(benchmarks.size(), 5U);
  const auto& of = benchmarks.at("pingpong/tag/host-host/tcp/8B [vm]");
  EXPECT_EQ(of.size(), 3U);
  const auto& latency = of.at("latency_us");
  EXPECT_LT(latency.at("lower_value"), latency.at("value"));
  EXPECT_LT(latency.at("value"), latency.at("upper_value"));
}

TEST(Trackers, WithoutAnIntervalSayNone) {
  const auto row = exported("smaller-is-better", sample_of_pairs()).at(0);
  EXPECT_FALSE(row.contains("range"));
  EXPECT_EQ(row.at("extra").get<std::string>().find("ci95"), std::string::npos);
  const auto benchmarks = exported("bencher", sample_of_pairs());
  for (const auto& [key, of] : benchmarks.items()) {
    for (const auto& [name, measure] : of.items()) EXPECT_EQ(measure.size(), 1U) << key << name;
  }
}

TEST(Trackers, LeaveOutWhatIsNoNumber) {
  auto result = sample_result();
  result.cases.resize(1);
  auto& latency = result.cases[0].metrics.at("latency_us");
  latency.quantiles.p50 = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(exported("smaller-is-better", result), Json::array());
  EXPECT_FALSE(
      exported("bencher", result).at(result.cases[0].key + " [vm]").contains("latency_us"));
  latency.quantiles.p50 = 12.5;
  latency.ci95 = {{12, std::numeric_limits<double>::infinity()}};
  EXPECT_FALSE(exported("smaller-is-better", result).at(0).contains("range"));
}

TEST(Trackers, OfNothingAreEmpty) {
  EXPECT_EQ(exported("bigger-is-better", Result{}), Json::array());
  EXPECT_EQ(exported("bencher", Result{}), Json::object());
}

}  // namespace
}  // namespace ucxbench
