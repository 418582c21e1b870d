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
