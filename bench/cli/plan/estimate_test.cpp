#include "bench/cli/plan/estimate.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

using namespace std::chrono_literals;

Case planned(const std::string& benchmark, const Json& parameters) {
  Case one;
  one.benchmark = benchmark;
  one.parameters = parameters;
  return one;
}

class AnEstimate : public testing::Test {
 protected:
  AnEstimate() {
    groups_.resize(2);
    groups_[0].cases = {0, 1};
    groups_[1].cases = {2};
    groups_[1].unavailable = "no such device";
  }

  std::vector<Case> cases_{
      planned("pingpong", {{"time_per_launch_ns", 1'000'000'000}, {"iterations", nullptr}}),
      planned("pingpong", {{"time_per_launch_ns", 500'000'000}, {"iterations", nullptr}}),
      planned("merge", {{"rows", 1000}})};
  std::vector<Group> groups_;
  RunSetup setup_;
};

TEST_F(AnEstimate, IsOfTheLaunchesTheirStartAndTheirCases) {
  setup_.launches = 10;
  const auto one = estimate(cases_, groups_, setup_);
  // 1.5 s of measuring, a tenth more to warm up, twice what is beside it, and the start.
  EXPECT_NEAR(one.seconds, 10 * (1.65 + 0.1 + 0.35), 1e-6);
  EXPECT_EQ(in_words(one), "about 21 s");
  setup_.only_launch = 3;
  EXPECT_EQ(in_words(estimate(cases_, groups_, setup_)), "about 2 s");
}

TEST_F(AnEstimate, SaysWhatItDoesNotKnow) {
  setup_.launches = 20;
  groups_[1].unavailable.clear();
  EXPECT_EQ(in_words(estimate(cases_, groups_, setup_)),
            "at least 49 s: how long merge takes shows while it runs");
  cases_[0].parameters["iterations"] = 5;
  EXPECT_EQ(in_words(estimate(cases_, groups_, setup_)),
            "at least 26 s: how long merge and pingpong take shows while they run");
}

TEST_F(AnEstimate, EndsWithMaxTime) {
  setup_.launches = 1000;
  setup_.max_time = 10min;
  EXPECT_EQ(in_words(estimate(cases_, groups_, setup_)), "about 10 min, all of max_time");
}

TEST(RoughTime, HasAUnitThatFits) {
  EXPECT_EQ(rough_time(0.2), "1 s");
  EXPECT_EQ(rough_time(99), "99 s");
  EXPECT_EQ(rough_time(600), "10 min");
  EXPECT_EQ(rough_time(7200), "2.0 h");
}

}  // namespace
}  // namespace ucxbench
