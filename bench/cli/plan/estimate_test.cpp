#include "bench/cli/plan/estimate.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

using namespace std::chrono_literals;

Case planned(const std::string& benchmark, const Json& parameters) {
  Case of;
  of.benchmark = benchmark;
  of.parameters = parameters;
  return of;
}

class AnEstimate : public testing::Test {
 protected:
  AnEstimate() {
    plans_.resize(2);
    plans_[0].cases = {0, 1};
    plans_[1].cases = {2};
    plans_[1].unavailable = "no such device";
  }

  std::vector<Case> cases_{
      planned("pingpong", {{"time_per_launch_ns", 1'000'000'000}, {"iterations", nullptr}}),
      planned("pingpong", {{"time_per_launch_ns", 500'000'000}, {"iterations", nullptr}}),
      planned("merge", {{"rows", 1000}})};
  std::vector<LaunchPlan> plans_;
  Schedule schedule_;
};

TEST_F(AnEstimate, IsOfTheLaunchesTheirStartAndTheirCases) {
  schedule_.launches = 10;
  const auto whole = estimate(cases_, plans_, schedule_);
  // 1.5 s of measuring, a tenth more to warm up, twice what is beside it, and the start.
  EXPECT_NEAR(whole.seconds, 10 * (1.65 + 0.1 + 0.35), 1e-6);
  EXPECT_EQ(in_words(whole), "about 21 s");
  schedule_.only_launch = 3;
  EXPECT_EQ(in_words(estimate(cases_, plans_, schedule_)), "about 2 s");
}

TEST_F(AnEstimate, SaysWhatItDoesNotKnow) {
  schedule_.launches = 20;
  plans_[1].unavailable.clear();
  EXPECT_EQ(in_words(estimate(cases_, plans_, schedule_)), "at least 49 s");
  cases_[0].parameters["iterations"] = 5;
  EXPECT_EQ(in_words(estimate(cases_, plans_, schedule_)), "at least 26 s");
}

TEST_F(AnEstimate, OfAReplayHasTheRecordedTime) {
  schedule_.launches = 1;
  Json parameters = {
      {"recorded_ms", 3.6e6}, {"as_fast_as_possible", false}, {"warmup_runs", 1}, {"runs", 9}};
  cases_ = {planned("replay", parameters)};
  plans_ = {LaunchPlan{}};
  plans_[0].cases = {0};
  EXPECT_EQ(in_words(estimate(cases_, plans_, schedule_)), "at least 10.0 h");
  cases_[0].parameters["as_fast_as_possible"] = true;
  EXPECT_EQ(in_words(estimate(cases_, plans_, schedule_)), "at least 1 s");
}

TEST_F(AnEstimate, EndsWithMaxTime) {
  schedule_.launches = 1000;
  schedule_.max_time = 10min;
  EXPECT_EQ(in_words(estimate(cases_, plans_, schedule_)), "about 10 min, all of max_time");
}

TEST_F(AnEstimate, TellsOfABusyMachineAndNotOfWhatCannotRun) {
  schedule_.launches = 1;
  Result result;
  result.cases = cases_;
  EXPECT_EQ(time_in_words(result, plans_, schedule_), "takes about 2 s");
  result.machine["hosts"] = {{{"name", "a"}, {"load_1min", 66.0}, {"hardware_threads", 4}}};
  EXPECT_EQ(time_in_words(result, plans_, schedule_),
            "takes about 2 s, longer while other programs use the CPUs");
  plans_[0].unavailable = "no GPU";
  EXPECT_EQ(time_in_words(result, plans_, schedule_), "");
}

TEST(RoughTime, HasAUnitThatFits) {
  EXPECT_EQ(rough_time(0.2), "1 s");
  EXPECT_EQ(rough_time(99), "99 s");
  EXPECT_EQ(rough_time(600), "10 min");
  EXPECT_EQ(rough_time(7200), "2.0 h");
}

}  // namespace
}  // namespace ucxbench
