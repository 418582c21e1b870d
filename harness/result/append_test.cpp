#include "harness/result/append.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/samples.hpp"

namespace ucxbench {
namespace {

/// One launch of a ping-pong whose latency is `us`, and of a canary.
Result part(int launch, double us) {
  Result run;
  run.run = {{"id", "run-" + std::to_string(launch)},
             {"started_utc", "2026-01-01T00:00:00Z"},
             {"finished_utc", "2026-01-01T00:00:0" + std::to_string(launch) + "Z"},
             {"state", "complete"},
             {"reason", ""},
             {"transfers", "part.transfers.bin"}};
  run.build = {{"commit", "0123"}, {"flags", "-O2"}};
  run.machine = {{"id", "box"}, {"topology_hash", "f5c4"}};
  run.ucx = {{"version", "1.13.1"}, {"library", "/lib/libucs.so.0"}};
  for (const auto* benchmark : {"pingpong", canary_benchmark}) {
    Case of;
    of.key = std::string(benchmark) + "/one";
    of.benchmark = benchmark;
    of.shows = shows_of_older(of);
    of.state = CaseState::measured;
    of.verified.checked = 3;
    of.peak_buffer_bytes = 100 + static_cast<std::uint64_t>(launch);
    LaunchRecord record;
    record.launch = launch;
    record.samples["latency_us"] = make_samples({us, us, us}, 256);
    of.launches = {record};
    summarize(of);
    run.cases.push_back(of);
  }
  return run;
}

std::string refusal(const Result& run, const Result& more) {
  auto changed = run;
  try {
    append_launches(changed, more);
  } catch (const Failure& failure) {
    EXPECT_EQ(to_json(changed), to_json(run));
    return failure.what();
  }
  return "";
}

TEST(AppendLaunches, KeepsTheirOrderAndSumsUpAnew) {
  auto run = part(0, 5);
  append_launches(run, part(1, 3));
  append_launches(run, part(2, 4));
  const auto& of = run.cases.at(0);
  const auto& metric = of.metrics.at("latency_us");
  EXPECT_EQ(metric.launch_medians, (std::vector<double>{5, 3, 4}));
  EXPECT_EQ(metric.quantiles.p50, 4);
  EXPECT_EQ(metric.samples_seen, 9U);
  for (int launch = 0; launch < 3; ++launch) {
    EXPECT_EQ(of.launches.at(static_cast<std::size_t>(launch)).launch, launch);
  }
  EXPECT_EQ(of.verified.checked, 9U);
  EXPECT_EQ(of.peak_buffer_bytes, 102U);
  EXPECT_EQ(of.pairs.size(), 1U);
  EXPECT_TRUE(run.cases.at(1).pairs.empty());
  EXPECT_EQ(run.run.at("id"), "run-0");
  EXPECT_EQ(run.run.at("finished_utc"), "2026-01-01T00:00:02Z");
  EXPECT_FALSE(run.run.contains("transfers"));
}

TEST(AppendLaunches, KeepsTheWorstStateAndPath) {
  auto run = part(0, 5);
  auto more = part(1, 5);
  more.run["state"] = "failed";
  more.run["reason"] = "rank 1 was killed";
  more.cases[0].launches[0].path = {{"verdict", "other"}};
  more.cases[0].labels = {"same-gpu"};
  append_launches(run, more);
  EXPECT_EQ(run.run.at("state"), "failed");
  EXPECT_EQ(run.run.at("reason"), "rank 1 was killed");
  auto last = part(2, 5);
  last.cases[0].launches[0].path = {{"verdict", "as-asked"}, {"bytes_by_counter", {{"tcp/lo", 9}}}};
  last.cases[0].state = CaseState::failed;
  last.cases[0].reason = "wrong data";
  append_launches(run, last);
  EXPECT_EQ(run.cases[0].path.at("verdict"), "other");
  EXPECT_EQ(run.cases[0].labels, std::vector<std::string>{"same-gpu"});
  EXPECT_EQ(run.cases[0].state, CaseState::failed);
  append_launches(run, part(3, 5));
  EXPECT_EQ(run.cases[0].state, CaseState::failed);
  EXPECT_EQ(run.cases[0].reason, "wrong data");
}

TEST(AppendLaunches, MeasuredOnceIsNotSkipped) {
  auto first = part(0, 5);
  first.cases[0].launches.clear();
  first.cases[0].metrics.clear();
  first.cases[0].state = CaseState::skipped;
  first.cases[0].reason = "not here";
  auto run = first;
  append_launches(run, part(1, 5));
  EXPECT_EQ(run.cases[0].state, CaseState::measured);
  EXPECT_EQ(run.cases[0].reason, "");
  auto last = first;
  last.cases[1].launches.front().launch = 2;
  append_launches(run, last);
  EXPECT_EQ(run.cases[0].state, CaseState::measured);
}

TEST(AppendLaunches, TakesACanaryThatCameLater) {
  auto run = part(0, 5);
  run.cases.pop_back();
  append_launches(run, part(1, 5));
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases[1].launches.size(), 1U);
  auto last = part(2, 5);
  last.cases.pop_back();
  append_launches(run, last);
  EXPECT_EQ(run.cases[0].launches.size(), 3U);
}

TEST(AppendLaunches, RefusesWhatIsOfAnotherRun) {
  const auto run = part(0, 5);
  EXPECT_NE(refusal(run, part(0, 5)).find("pingpong/one has launch 0 twice"), std::string::npos);
  auto more = part(1, 5);
  more.build["commit"] = "4567";
  EXPECT_EQ(refusal(run, more),
            "these launches are not of one run: commit \"0123\" -> \"4567\"; measure all of them "
            "anew");
  more = part(1, 5);
  more.ucx["version"] = "1.22.0";
  EXPECT_NE(refusal(run, more).find("UCX"), std::string::npos);
  more = part(1, 5);
  more.cases[0].key = "pingpong/other";
  EXPECT_NE(refusal(run, more).find("case pingpong/other is only in some"), std::string::npos);
}

TEST(AppendLaunches, APartMayLeaveOutACase) {
  auto run = part(0, 5);
  auto more = part(1, 5);
  more.cases.erase(more.cases.begin());
  append_launches(run, more);
  EXPECT_EQ(run.cases[0].launches.size(), 1U);
}

}  // namespace
}  // namespace ucxbench
