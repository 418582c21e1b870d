#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

struct SizeOfRun {
  std::uint64_t bytes;
  double measured_us, expected_us;
  const char* protocol;
};

Result with_estimates(const std::vector<SizeOfRun>& sizes, const char* by = "request") {
  auto result = made_run();
  for (const auto& size : sizes) {
    auto of = made_case(size.bytes, {"tcp"});
    of.metrics.at("latency_us").quantiles.p50 = size.measured_us;
    of.path = {{"protocols", Json::array({{{"use", "latency"},
                                           {"protocol", size.protocol},
                                           {"expected_us", size.expected_us},
                                           {"expected_by", by},
                                           {"from", 12345U},
                                           {"to", nullptr}}})},
               {"speed_unknown", {"tcp/lo"}}};
    result.cases.push_back(of);
  }
  return result;
}

TEST(FarEstimate, IsOfTheTwoProtocolsAtAThreshold) {
  // 100 times too slow, both alike: the choice is right all the same.
  const std::vector<SizeOfRun> alike = {{8192, 10, 1000, "eager"}, {16384, 19, 2000, "rendezvous"}};
  EXPECT_EQ(said(far_estimate, with_estimates(alike)), Said());
  const std::vector<SizeOfRun> apart = {{8192, 10, 1000, "eager"}, {16384, 80, 2000, "rendezvous"}};
  const auto found = said(far_estimate, with_estimates(apart));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found.begin()->find("x UCX's estimate below 12345 B (eager)"), std::string::npos)
      << *found.begin();
  // In two lines, whatever UCX calls its protocols.
  const std::vector<SizeOfRun> wordy = {
      {8192, 10, 1000, "multi-frag eager copy-in copy-out"},
      {16384, 80, 2000, "rendezvous zero-copy fenced write to remote"}};
  EXPECT_EQ(said(far_estimate, with_estimates(wordy)), found);
  // The same protocol on both sides: nothing was chosen there. And one that is known to be coarse.
  const std::vector<SizeOfRun> same = {{8192, 10, 1000, "eager"}, {16384, 80, 2000, "eager"}};
  EXPECT_EQ(said(far_estimate, with_estimates(same)), Said());
  EXPECT_EQ(said(far_estimate, with_estimates(apart, "ucp_ep_evaluate_perf")), Said());
}

/// Six launches of each of two sizes, with a threshold of rendezvous between them.
Result with_forced(double eager_below, double rendezvous_below, double eager_above,
                   double rendezvous_above) {
  auto result = with_estimates(
      {{4096, eager_below, 1, "eager short"}, {16384, rendezvous_above, 2, "rendezvous get"}});
  const auto add = [](Case& of, double chosen, double forced, const char* protocol,
                      const char* value) {
    for (int launch = 0; launch < 6; ++launch) {
      auto record = made_record(0, 1, "tcp", {});
      record.launch = launch;
      // The machine is slower in some launches than in others: both alike.
      const double slower = 1 + 0.2 * launch;
      record.samples["latency_us"].quantiles.p50 = slower * chosen;
      record.path["protocols"] = Json::array({{{"use", "forced"},
                                               {"settings", {{"UCX_RNDV_THRESH", value}}},
                                               {"protocol", protocol},
                                               {"latency_us", slower * forced}}});
      of.launches.push_back(record);
    }
  };
  add(result.cases[0], eager_below, rendezvous_below, "rendezvous get", "4096");
  add(result.cases[1], rendezvous_above, eager_above, "multi-frag eager", "inf");
  return result;
}

TEST(FarEstimate, IsNotWhereBothMayBeAlike) {
  auto result = with_estimates({{8192, 10, 1000, "eager"}, {16384, 80, 2000, "rendezvous"}});
  auto& below = result.cases[0].metrics.at("latency_us");
  below.ci95 = {9, 12};
  result.cases[1].metrics.at("latency_us").ci95 = {70, 90};
  EXPECT_EQ(said(far_estimate, result).size(), 1U);
  below.ci95 = {9, 50};
  EXPECT_EQ(said(far_estimate, result), Said());
}

TEST(WrongThreshold, IsWhereTheCurvesCrossElsewhere) {
  // Below it eager is faster, above it rendezvous: it is where it should be.
  EXPECT_EQ(said(wrong_threshold, with_forced(1, 2, 4, 3)), Said());
  // A few per cent may be luck.
  EXPECT_EQ(said(wrong_threshold, with_forced(1, 2, 2.9, 3)), Said());
  const auto low = said(wrong_threshold, with_forced(1, 2, 2, 5));
  ASSERT_EQ(low.size(), 1U);
  EXPECT_NE(
      low[0].find("threshold 12345 B too low: 4 KiB eager 1.50 us, rendezvous 3.00 us; 16 KiB "
                  "3.00 us, 7.50 us"),
      std::string::npos)
      << low[0];
  const auto high = said(wrong_threshold, with_forced(3, 2, 9, 5));
  ASSERT_EQ(high.size(), 1U);
  EXPECT_NE(high[0].find("too high"), std::string::npos) << high[0];
}

TEST(WrongThreshold, ClaimsNothingFromFewLaunchesOrOfOneThatUcxDidNotMove) {
  auto few = with_forced(1, 2, 2, 5);
  for (auto& of : few.cases) of.launches.resize(4);
  EXPECT_EQ(said(wrong_threshold, few), Said());
  auto once_slower = with_forced(1, 2, 2, 5);
  once_slower.cases[1].launches[3].path["protocols"][0]["latency_us"] = 100;
  EXPECT_EQ(said(wrong_threshold, once_slower), Said());
  auto unmoved = with_forced(1, 2, 2, 5);
  for (auto& record : unmoved.cases[1].launches) {
    record.path["protocols"][0]["protocol"] = "rendezvous get";
  }
  EXPECT_EQ(said(wrong_threshold, unmoved), Said());
}

TEST(GuessedSpeed, NamesTheLaneAndTheLargestMessage) {
  auto result = with_estimates({{8192, 10, 1000, "eager"}, {16384, 20, 2000, "eager"}});
  EXPECT_EQ(
      said(guessed_speed, result),
      Said{"tcp/lo: no speed in /sys/class/net, so UCX assumes 100 Mbit/s: it expects 2.00 ms "
           "for 16 KiB, measured 20.0 us"});
  for (auto& of : result.cases) of.path["speed_unknown"] = Json::array();
  EXPECT_EQ(said(guessed_speed, result), Said());
}

}  // namespace
}  // namespace ucxbench
