// What did not pass is no figure: it is judged as a failure, and nothing is judged against it.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "harness/analysis/comparison/ablation.hpp"
#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/flaws.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

Case measured_case(const std::string& key, double latency_us) {
  Case of{.key = key, .benchmark = "pingpong", .state = CaseState::measured};
  for (int launch = 0; launch < 12; ++launch) {
    LaunchRecord record{.launch = launch};
    record.samples["latency_us"].quantiles.p50 = latency_us * (1 + 0.001 * (launch % 5));
    of.launches.push_back(record);
  }
  summarize(of);
  of.shows = shows_of_older(of);
  return of;
}

Result run_of(double latency_us) {
  Result run;
  run.run = {{"state", "complete"}};
  run.machine = {{"id", "box"}, {"hosts", {{{"kernel", "6.1"}}}}};
  run.cases = {measured_case("pingpong/a", latency_us)};
  return run;
}

/// The ways in which a case does not pass.
void make_flawed(Case& of, Flaw flaw) {
  switch (flaw) {
    case Flaw::wrong_data:
      of.state = CaseState::failed;
      of.verified = {.checked = 12, .errors = 1};
      break;
    case Flaw::failed:
      of.state = CaseState::failed;
      of.reason = "rank 1 was lost";
      break;
    case Flaw::interrupted:
      of.labels = {to_string(Label::interrupted)};
      break;
    case Flaw::impossible:
      for (auto& record : of.launches) record.samples["latency_us"].quantiles.min = -1;
      break;
    case Flaw::no_bytes:
    case Flaw::time_sliced:
      break;  // of single metrics, below and in weigh()'s tests
  }
  summarize(of);
}

// Also where it is faster, which is what would have been believed.
TEST(FailedCases, OfTheNewRunAreALossHoweverFast) {
  for (const double latency_us : {5.0, 10.0}) {
    for (const auto flaw : {Flaw::wrong_data, Flaw::failed}) {
      const auto base = run_of(10);
      auto now = run_of(latency_us);
      make_flawed(now.cases[0], flaw);
      const auto found = compare(base, now);
      ASSERT_EQ(found.series.size(), 1U);
      EXPECT_EQ(found.series[0].change, Change::failed);
      EXPECT_EQ(found.series[0].metric, "latency_us");
      EXPECT_EQ(name_of(reason_names, found.series[0].reason), name_of(flaws, flaw));
      EXPECT_EQ(found.tests, 0U);
      EXPECT_TRUE(has_loss(found));
    }
  }
}

TEST(FailedCases, WithoutABaseAreALossToo) {
  for (const bool both : {false, true}) {
    Result base = run_of(10);
    if (both) make_flawed(base.cases[0], Flaw::failed);
    if (!both) base.cases.clear();
    auto now = run_of(10);
    make_flawed(now.cases[0], Flaw::failed);
    const auto found = compare(base, now);
    ASSERT_EQ(found.series.size(), 1U);
    EXPECT_EQ(found.series[0].change, Change::failed);
    EXPECT_TRUE(has_loss(found));
  }
}

TEST(FailedCases, OfTheBaseAndInterruptedOnesDecideNothing) {
  for (const auto flaw : {Flaw::wrong_data, Flaw::failed, Flaw::interrupted, Flaw::impossible}) {
    for (const bool of_base : {true, false}) {
      if (!of_base && (flaw == Flaw::wrong_data || flaw == Flaw::failed)) continue;
      auto base = run_of(10);
      auto now = run_of(20);
      // What a file recorded by other rules says nothing of today's.
      base.findings = now.findings = {{{"id", "few-launches"}, {"severity", "note"}}};
      make_flawed(of_base ? base.cases[0] : now.cases[0], flaw);
      const auto found = compare(base, now);
      ASSERT_EQ(found.series.size(), 1U);
      EXPECT_EQ(found.series[0].change, Change::inconclusive);
      EXPECT_EQ(name_of(reason_names, found.series[0].reason), name_of(flaws, flaw));
      EXPECT_NE(found.series[0].why.find(of_base ? "the base run" : "the new run"),
                std::string::npos);
      EXPECT_EQ(found.series[0].base_is_flawed, of_base);
      EXPECT_FALSE(has_loss(found));
    }
  }
}

TEST(FailedCases, AnImpossibleFigureIsNamedInTheComparison) {
  const auto base = run_of(10);
  auto now = run_of(10);
  make_flawed(now.cases[0], Flaw::impossible);
  const auto found = compare(base, now);
  EXPECT_NE(found.series.at(0).why.find("latency_us of 0->1 is -1"), std::string::npos)
      << found.series.at(0).why;
  EXPECT_EQ(found.series.at(0).base, std::nullopt);
  ASSERT_EQ(found.differences.size(), 1U);
  EXPECT_TRUE(found.differences[0].starts_with(
      "the new run has 1 impossible figure, of whose cases nothing is judged: "));
}

TEST(FailedCases, ARunThatFailedIsALossThoughItsCasesPassed) {
  const auto base = run_of(10);
  auto now = run_of(10);
  EXPECT_FALSE(has_loss(compare(base, now)));
  now.run = {{"state", "failed"}, {"reason", "rank 1 was lost"}};
  const auto found = compare(base, now);
  EXPECT_EQ(found.lost, "the new run failed: rank 1 was lost");
  EXPECT_TRUE(has_loss(found));
  EXPECT_FALSE(has_loss(compare(now, base)));
}

/// The first `zeros` of the launches moved nothing; a second pair of ranks never has that.
Result with_rate(double rate, int zeros = 0, bool second_pair = false) {
  auto run = run_of(10);
  auto& launches = run.cases[0].launches;
  for (auto& record : launches) {
    record.samples.clear();
    record.samples["bandwidth_GBps"].quantiles.p50 = record.launch < zeros ? 0 : rate;
  }
  for (int launch = 0; second_pair && launch < 12; ++launch) {
    auto record = launches[static_cast<std::size_t>(launch)];
    std::swap(record.src, record.dst);
    record.samples["bandwidth_GBps"].quantiles.p50 = rate;
    launches.push_back(record);
  }
  summarize(run.cases[0]);
  run.cases[0].shows = shows_of_older(run.cases[0]);
  return run;
}

TEST(FailedCases, ARateOf0IsALoss) {
  const auto found = compare(with_rate(8), with_rate(0));
  ASSERT_EQ(found.series.size(), 1U);
  EXPECT_EQ(found.series[0].change, Change::failed);
  EXPECT_EQ(found.series[0].reason, Reason::zero);
  const auto reversed = compare(with_rate(0), with_rate(8));
  EXPECT_EQ(reversed.series.at(0).change, Change::inconclusive);
  EXPECT_EQ(reversed.series.at(0).reason, Reason::zero);
}

TEST(FailedCases, ALaunchWithARateOf0IsNotLeftOut) {
  for (const int zeros : {1, 8, 11}) {
    const auto found = compare(with_rate(8), with_rate(8, zeros)).series.at(0);
    EXPECT_EQ(found.change, Change::failed) << zeros;
    EXPECT_EQ(found.reason, Reason::zero);
    EXPECT_NE(found.why.find(std::to_string(zeros) + " of 12 launches of the new run"),
              std::string::npos)
        << found.why;
    EXPECT_FALSE(found.base_is_flawed);
    const auto reversed = compare(with_rate(8, zeros), with_rate(8)).series.at(0);
    EXPECT_EQ(reversed.change, Change::inconclusive);
    EXPECT_EQ(reversed.reason, Reason::zero);
    EXPECT_TRUE(reversed.base_is_flawed);
  }
}

TEST(FailedCases, OnePairsLaunchWithARateOf0IsNotLeftOutEither) {
  const auto found = compare(with_rate(8, 0, true), with_rate(8, 4, true));
  EXPECT_TRUE(has_loss(found));
  const auto failed = std::ranges::find(found.series, Change::failed, &SeriesChange::change);
  ASSERT_NE(failed, found.series.end());
  EXPECT_EQ(failed->reason, Reason::zero);
  EXPECT_EQ(failed->pair.value().src, 0);
}

TEST(FailedCases, AnotherUnitIsNotCompared) {
  const auto base = run_of(10);
  auto now = run_of(0.01);
  for (auto& metric : now.cases[0].shows.metrics) {
    if (metric.name == "latency_us") metric.unit = "ms";
  }
  const auto found = compare(base, now).series.at(0);
  EXPECT_EQ(found.change, Change::inconclusive);
  EXPECT_EQ(found.reason, Reason::unit);
  EXPECT_EQ(found.why, "the unit changed, from us in the base run to ms in the new run");
}

}  // namespace
}  // namespace ucxbench
