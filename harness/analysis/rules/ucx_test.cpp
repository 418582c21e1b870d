#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

/// 8 KiB goes eager, 16 KiB by rendezvous.
Result around_the_switch(double eager_us, double rendezvous_us) {
  auto result = made_run();
  for (const std::uint64_t bytes : {8192U, 16384U}) {
    const bool eager = bytes == 8192;
    auto of = made_case(bytes, {"shm"});
    of.metrics.at("latency_us").quantiles.p50 = eager ? eager_us : rendezvous_us;
    of.path = {
        {"protocols",
         Json::array({{{"use", "latency"},
                       {"protocol", eager ? "eager" : "rendezvous, read by the receiver"}}})}};
    result.cases.push_back(of);
  }
  return result;
}

TEST(EagerTooLong, IsSlowerThanALargerRendezvous) {
  const auto result = around_the_switch(9, 6);
  EXPECT_EQ(said(eager_too_long, result),
            Said{"pingpong tag, host to host, over shm: 8 KiB takes 9.00 us (eager), 16 KiB only "
                 "6.00 us (rendezvous)"});
  const auto findings = eager_too_long(Judged(result));
  EXPECT_EQ(findings[0].next, "set --ucx UCX_RNDV_THRESH=8192");
  EXPECT_NEAR(findings[0].cost_ms.value_or(0), 3e-3, 1e-6);
  EXPECT_EQ(said(eager_too_long, around_the_switch(5, 6)), Said());
}

TEST(EagerTooLong, NeedsIntervalsApartAndASwitch) {
  auto result = around_the_switch(9, 6);
  result.cases[0].metrics.at("latency_us").ci95 = {5.5, 12.0};
  result.cases[1].metrics.at("latency_us").ci95 = {5.0, 7.0};
  EXPECT_EQ(said(eager_too_long, result), Said());
  result = around_the_switch(9, 6);
  result.cases[1].path["protocols"][0]["protocol"] = "eager";
  EXPECT_EQ(said(eager_too_long, result), Said());
}

/// Three launches whose first messages take that long, over connections of 300 us; later ones 30.
Case case_of_first_messages(const std::string& set, const std::vector<double>& first_us) {
  auto of = made_case(1 << 20, {set}, "cuda");
  of.metrics.at("latency_us").quantiles.p50 = 30;
  for (const auto us : first_us) {
    LaunchRecord record;
    record.cold = {.connect_us = 300, .first_message_us = us};
    of.launches.push_back(record);
  }
  return of;
}

TEST(SlowFirstMessage, CostsMoreThanConnectingInEveryLaunch) {
  auto result = made_run();
  result.cases = {case_of_first_messages("nvlink", {1230, 1240, 5000})};
  EXPECT_EQ(said(slow_first_message, result),
            Said{"pingpong tag, cuda to cuda, over nvlink: every first message of 1 MiB takes 1.23 "
                 "ms or more, later ones 30.0 us"});
  EXPECT_NEAR(slow_first_message(Judged(result))[0].cost_ms.value_or(0), 1.2, 1e-6);
  // Of several sets once, with the costliest.
  for (const auto* set : {"tcp", "shm"}) {
    result.cases.push_back(case_of_first_messages(set, {2230, 2230, 2230}));
  }
  EXPECT_EQ(said(slow_first_message, result),
            Said{"pingpong tag, cuda to cuda, over 3 sets: every first message of 1 MiB takes 2.23 "
                 "ms or more, later ones 30.0 us (tcp)"});
}

TEST(SlowFirstMessage, IsNotWhatEveryStartCostsNorAnInterruption) {
  auto result = made_run();
  const std::vector<std::vector<double>> usual = {
      {5000, 5000, 320},  // less above 30 us than connecting took
      {5000, 5000, 40},   // two of three launches were interrupted
      {5000, 5000}};      // too few to tell
  for (const auto& first_us : usual) {
    result.cases = {case_of_first_messages("nvlink", first_us)};
    EXPECT_EQ(said(slow_first_message, result), Said()) << first_us.back();
  }
  auto slow = case_of_first_messages("nvlink", {500, 500, 500});
  slow.metrics.at("latency_us").quantiles.p50 = 60;  // not ten times as long
  result.cases = {slow};
  EXPECT_EQ(said(slow_first_message, result), Said());
}

TEST(SlowFirstMessage, AdvisesToReuseBuffersWhereTheyWereNot) {
  auto result = made_run();
  result.cases = {case_of_first_messages("nvlink", {1230, 1240, 5000})};
  EXPECT_EQ(slow_first_message(Judged(result))[0].next, "see ucx-bench cold");
  result.cases[0].parameters["no_pool"] = true;
  EXPECT_EQ(slow_first_message(Judged(result))[0].next, "reuse buffers; see ucx-bench cold");
}

TEST(SlowFirstMessage, IsOfUcx) {
  auto result = made_run();
  result.cases = {case_of_first_messages("tcp", {1230, 1240, 5000})};
  EXPECT_EQ(said(slow_first_message, result).size(), 1U);
  result.cases[0].parameters["comm"] = "sockets";
  EXPECT_EQ(said(slow_first_message, result), Said());
}

TEST(SeveralUcx, AreNamedWithTheirRanks) {
  auto result = made_run();
  result.cases = {made_case(8, {"tcp"})};
  result.ucx = {{"version", "1.13.1"}};
  EXPECT_EQ(said(several_ucx, result), Said());
  result.ucx["versions"] = {{{"version", "1.13.1"}, {"ranks", {0}}, {"hosts", {"node07"}}},
                            {{"version", "1.22.0"}, {"ranks", {1, 2}}, {"hosts", {"node08"}}}};
  const auto findings = said(several_ucx, result);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].find("1.13.1 (rank 0 on node07), 1.22.0 (ranks 1-2 on node08)"),
            std::string::npos)
      << findings[0];
  result.cases[0].parameters["comm"] = "sockets";
  EXPECT_EQ(said(several_ucx, result), Said());
}

TEST(Memlock, SpeaksWhereThePlanSaidSo) {
  auto result = made_run();
  EXPECT_EQ(said(memlock, result), Said());
  result.ucx["lockable_problem"] = nullptr;
  EXPECT_EQ(said(memlock, result), Said());
  result.ucx["lockable_problem"] = "only 8192 KiB";
  EXPECT_EQ(
      said(memlock, result),
      Said{"auto: UCX cannot use InfiniBand, and its attempts disturb the run: only 8192 KiB"});
  auto of = made_case(8, {"auto"});
  of.parameters["comm"] = "sockets";
  result.cases = {of};
  EXPECT_EQ(said(memlock, result), Said());
}

}  // namespace
}  // namespace ucxbench
