#include "harness/run/case_report.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "harness/result/samples.hpp"

namespace ucxbench {
namespace {

Json report(int launch, std::optional<double> rate, const std::string& error = "") {
  LaunchRecord record{.launch = launch};
  if (rate) record.samples["bandwidth_GBps"].quantiles = quantiles_of({*rate});
  return {{"records", {launch_to_json(record)}},
          {"checked", 3},
          {"errors", error.empty() ? 0 : 1},
          {"peak_buffer_bytes", 100 - launch},
          {"error", error}};
}

const auto tcp = TransportSet::parse("tcp");

TEST(CaseReport, WithoutAnyRateLeavesItsCaseOut) {
  Case of;
  EXPECT_EQ(add_case_report(of, tcp, report(0, std::nullopt)), Exit::done);
  EXPECT_EQ(of.state, CaseState::skipped);
  EXPECT_TRUE(of.reason.starts_with("too short for the clock: ")) << of.reason;
  // One launch that is long enough makes a figure, and one more that is not takes it away no more.
  for (int launch = 1; launch < 3; ++launch) {
    add_case_report(of, tcp, report(launch, launch == 1 ? std::optional(2.0) : std::nullopt));
    EXPECT_EQ(of.state, CaseState::measured);
    EXPECT_EQ(of.reason, "");
  }
  EXPECT_EQ(of.launches.size(), 3U);
  EXPECT_EQ(of.verified.checked, 9U);
  EXPECT_EQ(of.peak_buffer_bytes, 100U);
}

TEST(CaseReport, OfWrongDataFailsItsCaseForEver) {
  Case of;
  EXPECT_EQ(add_case_report(of, tcp, report(0, 2.0, "byte 7 is wrong")), Exit::wrong_data);
  EXPECT_EQ(add_case_report(of, tcp, report(1, 2.0)), Exit::done);
  EXPECT_EQ(of.state, CaseState::failed);
  EXPECT_EQ(of.reason, "byte 7 is wrong");
  EXPECT_EQ(of.verified.errors, 1U);
}

}  // namespace
}  // namespace ucxbench
