#include "harness/result/events.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/result/labels.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench {
namespace {

class Events : public testing::Test {
 protected:
  void measure(int launch, std::optional<double> rate, const std::string& error = "") {
    LaunchRecord record{.launch = launch};
    if (rate) record.samples["bandwidth_GBps"].quantiles = quantiles_of({*rate});
    apply_event(result_, {{"case",
                           {{"index", 0},
                            {"records", {launch_to_json(record)}},
                            {"checked", 3},
                            {"errors", error.empty() ? 0 : 1},
                            {"peak_buffer_bytes", 100 - launch},
                            {"error", error}}}});
  }

  Result result_{.cases = {{.parameters = {{"transports", {"tcp"}}}}}};
  const Case& of_ = result_.cases[0];
};

TEST_F(Events, WithoutAnyRateLeaveTheirCaseOut) {
  measure(0, std::nullopt);
  EXPECT_EQ(of_.state, CaseState::skipped);
  EXPECT_EQ(of_.skip_cause, SkipCause::too_short);
  EXPECT_TRUE(of_.reason.starts_with("too short for the clock: ")) << of_.reason;
  // One launch that is long enough makes a figure, and one more that is not takes it away no more.
  for (int launch = 1; launch < 3; ++launch) {
    measure(launch, launch == 1 ? std::optional(2.0) : std::nullopt);
    EXPECT_EQ(of_.state, CaseState::measured);
    EXPECT_EQ(of_.skip_cause, std::nullopt);
    EXPECT_EQ(of_.reason, "");
  }
  EXPECT_EQ(of_.launches.size(), 3U);
  EXPECT_EQ(of_.verified.checked, 9U);
  EXPECT_EQ(of_.peak_buffer_bytes, 100U);
}

TEST_F(Events, OfWrongDataFailTheirCaseForEver) {
  measure(0, 2.0, "byte 7 is wrong");
  measure(1, 2.0);
  EXPECT_EQ(of_.state, CaseState::failed);
  EXPECT_EQ(of_.reason, "byte 7 is wrong");
  EXPECT_EQ(of_.verified.errors, 1U);
}

TEST_F(Events, AreSummedUpFromTheLaunchesAlone) {
  measure(0, 2.0);
  measure(1, 4.0);
  for (int time = 0; time < 2; ++time) {
    sum_up(result_);
    EXPECT_EQ(of_.metrics.at("bandwidth_GBps").quantiles.p50, 3.0);
    EXPECT_EQ(of_.path.at("asked"), Json({"tcp"}));
  }
}

TEST_F(Events, OfAnInterruptedLaunchHideNoPathThatIsKnown) {
  const Json ended = {{"why", "ended"}, {"labels", {to_string(Label::interrupted)}}};
  measure(0, 2.0);
  result_.cases.front().launches.back().path = ended;
  sum_up(result_);
  EXPECT_EQ(of_.path.at("why"), "ended");
  EXPECT_EQ(of_.path.at("verdict"), "unknown");
  result_.cases.front().launches.back().path = {{"verdict", "as-asked"}};
  measure(1, 2.0);
  result_.cases.front().launches.back().path = ended;
  sum_up(result_);
  EXPECT_EQ(of_.path.at("verdict"), "as-asked");
  EXPECT_EQ(of_.labels, std::vector<std::string>{to_string(Label::interrupted)});
}

TEST_F(Events, OfProcessorsGoToTheirLaunchAlone) {
  measure(0, 2.0);
  measure(1, 2.0);
  const Json seen = processors_to_json({Processors{80, 900}, std::nullopt});
  apply_event(result_,
              {{"processors",
                {{"launch", 1}, {"cases", {0}}, {"seen", seen}, {"elsewhere", {{"b", seen}}}}}});
  EXPECT_FALSE(of_.launches[0].processors[0]);
  EXPECT_EQ(of_.launches[1].processors[0]->apart_ns, 80);
  EXPECT_FALSE(of_.launches[1].processors[1]);
  const auto again = launch_from_json(launch_to_json(of_.launches[1]));
  EXPECT_EQ(again.processors_elsewhere.at("b")[0]->work_ns, 900);
}

TEST_F(Events, OfNoKindOrOfAnotherRunAreRefused) {
  for (const Json& event : {Json(), Json::object(), Json{{"song", 1}}, Json{{"run", 1}},
                            Json{{"state", {{"cases", {1}}, {"state", "failed"}, {"reason", ""}}}},
                            Json{{"case", {{"index", 0}}}}}) {
    EXPECT_THROW(apply_event(result_, event), std::exception) << event;
  }
}

TEST_F(Events, OfOneHostAreItsOwn) {
  result_.machine["hosts"] = {{{"name", "a"}}, {{"name", "b"}}};
  apply_event(result_, {{"memory_copy", {{"host", "b"}, {"copies", {{"one_core", 2}}}}}});
  apply_event(result_, {{"memory_copy", {{"one_core", 1}}}});  // of an older journal
  EXPECT_EQ(result_.machine["hosts"][0]["memory_copy"]["one_core"], 1);
  EXPECT_EQ(result_.machine["hosts"][1]["memory_copy"]["one_core"], 2);
  apply_event(result_, {{"clock", {{"launch", 0}, {"host", "b"}}}});
  EXPECT_EQ(result_.run["clocks"].size(), 1U);
}

}  // namespace
}  // namespace ucxbench
