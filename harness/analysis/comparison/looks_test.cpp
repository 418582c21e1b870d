#include "harness/analysis/comparison/looks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/comparison/duets_for_test.hpp"
#include "harness/analysis/comparison/going_on.hpp"
#include "harness/analysis/comparison/judge.hpp"
#include "harness/core/every_for_test.hpp"

namespace ucxbench {
namespace {

TEST(Looks, AreFromWhereDuetsCanDecideOn) {
  EXPECT_EQ(planned_looks(24, 48, 0.005), (std::vector{16, 24}));
  EXPECT_EQ(planned_looks(24, 2, 0.005), (std::vector{13, 24}));
  EXPECT_EQ(planned_looks(100, 48, 0.005), (std::vector{21, 46, 71, 100}));
  EXPECT_EQ(planned_looks(12, 48, 0.005), std::vector<int>());
  EXPECT_EQ(planned_looks(1, 1, 0.5), std::vector<int>());
  EXPECT_EQ(planned_looks(24, 48, 0.005, 72), (std::vector{17, 24, 36, 48, 72}));
  EXPECT_EQ(planned_looks(24, 2, 0.005, 72), (std::vector{13, 24, 36, 48, 72}));
  EXPECT_EQ(planned_looks(12, 48, 0.005, 36), std::vector<int>());
}

double sum_of(const std::vector<Look>& looks) {
  return std::accumulate(looks.begin(), looks.end(), 0.0,
                         [](double sum, const Look& look) { return sum + look.share; });
}

TEST(Looks, ShareAlpha) {
  const auto looks = looks_after({12, 18, 24}, 24);
  ASSERT_EQ(looks.size(), 3U);
  EXPECT_DOUBLE_EQ(looks[0].share, 0.125);
  EXPECT_DOUBLE_EQ(looks[1].share, 27.0 / 64 - 0.125);
  EXPECT_DOUBLE_EQ(sum_of(looks), 1);
  const auto more = looks_after({12, 24, 48, 72}, 24);
  ASSERT_EQ(more.size(), 4U);
  EXPECT_DOUBLE_EQ(more[0].share, 0.7 / 8);
  EXPECT_DOUBLE_EQ(more[0].share + more[1].share, 0.7);
  EXPECT_DOUBLE_EQ(more[2].share, 0.15);
  EXPECT_DOUBLE_EQ(sum_of(more), 1);
  EXPECT_FALSE(more[1].beyond);
  EXPECT_TRUE(more[2].beyond);
}

const SeriesChange& row_of(const Comparison& found, const std::string& bytes) {
  for (const auto& row : found.series) {
    if (row.key.ends_with("/" + bytes + "B")) return row;
  }
  throw std::out_of_range(bytes);
}

TEST(Looks, AreThoseOfTheRuns) {
  const auto after = [](int duets, const std::vector<int>& planned) {
    const auto [base, now] = runs_of_duets({{0, 0.01, 10}, {0, 0.01, duets}}, planned);
    return looks_of(base, now);
  };
  EXPECT_EQ(after(24, {16, 24}).size(), 2U);
  // All was decided: the share of what did not follow is not to be had.
  EXPECT_EQ(after(16, {16, 24}).size(), 1U);
  EXPECT_LT(after(16, {16, 24})[0].share, 0.5);
  // Who is interrupted has all that is left.
  ASSERT_EQ(after(20, {16, 24}).size(), 2U);
  EXPECT_EQ(after(20, {16, 24})[1].after, 20);
  EXPECT_DOUBLE_EQ(sum_of(after(20, {16, 24})), 1);
  EXPECT_DOUBLE_EQ(after(12, {16, 24})[0].share, 1);
  EXPECT_DOUBLE_EQ(after(24, {})[0].share, 1);
}

TEST(Looks, OfThoseThatGoOnStandBefore) {
  const auto after = [](int duets) {
    const auto [base, now] = runs_of_duets({{0, 0.03}, {0, 0.03, duets}}, {17, 24, 48, 72}, 24);
    return looks_of(base, now);
  };
  EXPECT_EQ(after(72).size(), 4U);
  EXPECT_EQ(after(24).size(), 2U);
  EXPECT_DOUBLE_EQ(sum_of(after(24)), 0.7);
  // Where it ended after what was measured, it is no look.
  EXPECT_EQ(after(40).size(), 2U);
  EXPECT_EQ(after(50).size(), 3U);
  // Before, it was the time that ended it.
  const auto [base, now] = runs_of_duets({{0, 0.03, 20}}, {17, 24, 48, 72}, 24);
  EXPECT_DOUBLE_EQ(sum_of(looks_of(base, now)), 1);
}

TEST(Looks, SettleWhatIsDecidedAndNothingElse) {
  const auto [base, now] = runs_of_duets({{0.1, 0.01}, {0, 0.001}, {0, 0.03}}, {16, 24});
  const auto found = compare(base, now);
  EXPECT_EQ(row_of(found, "0").change, Change::regressed);
  EXPECT_EQ(row_of(found, "0").base_launches, 16U);
  EXPECT_EQ(row_of(found, "1").change, Change::unchanged);
  EXPECT_EQ(row_of(found, "1").base_launches, 16U);
  EXPECT_EQ(row_of(found, "2").base_launches, 24U);
  EXPECT_EQ(found.tests, 3U);
  // The same of those that were left out then, as they were.
  const auto [less_base, less_now] = runs_of_duets({{0.1, 0.01, 16}, {0, 0.001, 16}}, {16, 24});
  EXPECT_EQ(row_of(compare(less_base, less_now), "0").base_launches, 16U);
  // Without looks it is another interval, which needs to hold but once.
  auto apart = less_now;
  apart.run["ab"]["other"] = "another";
  const auto of_look = *row_of(compare(less_base, less_now), "1").ratio.interval;
  const auto alone = *row_of(compare(less_base, apart), "1").ratio.interval;
  EXPECT_LT(of_look[0], alone[0]);
  EXPECT_GT(of_look[1], alone[1]);
}

TEST(Looks, TestBeyondAllLaunchesOnlyWhatGotThere) {
  const std::vector<Kind> rows = {{0, 0.08, 48}, {0, 0.08, 30}, {0, 0.08}};
  const auto [base, now] = runs_of_duets(rows, {17, 24, 48, 72}, 24);
  const auto found = compare(base, now);
  EXPECT_EQ(row_of(found, "0").base_launches, 48U);
  EXPECT_EQ(row_of(found, "1").base_launches, 24U);
  EXPECT_EQ(row_of(found, "2").base_launches, 24U);
}

TEST(Looks, LeaveOutWhatIsUnchangedAndUnpromisingWhereOthersGoOn) {
  const std::vector<Kind> rows = {{0, 0.02}, {0, 0.08}};
  const auto duets = [&](const std::vector<int>& looks) {
    const auto [base, now] = runs_of_duets(rows, looks, all_launches);
    const auto found = compare(base, now);
    EXPECT_EQ(row_of(found, "0").change, Change::unchanged);
    return row_of(found, "0").base_launches;
  };
  EXPECT_EQ(duets({17, 24}), 24U);
  EXPECT_EQ(duets({17, 24, 48, 72}), 17U);
}

TEST(GoingOn, IsForTheMostPromisingOfTheUndecided) {
  const std::vector<Kind> rows = {{0.2, 0.01}, {0, 0.08}, {0.04, 0.08}, {0, 0.001}};
  const auto [base, now] = runs_of_duets(rows, {13, 24, 48, 72}, 24);
  EXPECT_EQ(undecided_cases(base, now, {}),
            (std::vector<std::string>{base.cases[2].key, base.cases[1].key}));
}

TEST(GoingOn, BringsOneAsFarAsTimeAllows) {
  const std::vector<int> looks = {17, 24, 48, 72};
  EXPECT_EQ(affordable_cases(looks, 24, 30, 23.9), 0U);
  EXPECT_EQ(affordable_cases(looks, 24, 30, 24), 1U);
  // One to 48, and one of the two that there is time for beside it.
  EXPECT_EQ(affordable_cases(looks, 24, 30, 36), 2U);
  // One to 72, none that would keep it from there.
  EXPECT_EQ(affordable_cases(looks, 24, 30, 48), 1U);
  EXPECT_EQ(affordable_cases(looks, 24, 30, 54), 2U);
  EXPECT_EQ(affordable_cases(looks, 24, 30, 84), 4U);
  EXPECT_EQ(affordable_cases(looks, 66, 72, 5), 0U);
  EXPECT_EQ(affordable_cases(looks, 66, 72, 20), 3U);
}

TEST(Looks, WhatIsNotMeasuredOnIsNotTestedAgain) {
  // All duets of one sign decide at the second look, whose share is larger, but not at the first.
  const auto verdict = [](int duets) {
    const auto [base, now] = runs_of_duets({{0.1, 0.001, duets}, {0, 0.03}}, {12, 24});
    return row_of(compare(base, now, {.alpha = 0.002}), "0").change;
  };
  EXPECT_EQ(verdict(all_launches), Change::regressed);
  EXPECT_EQ(verdict(12), Change::inconclusive);
}

/// Rows of which the first differ by `change`, with noise of deviation 1.
std::vector<Row> drawn(std::mt19937& random, std::size_t count, double change,
                       int launches = all_launches) {
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<Row> rows(count);
  for (auto& row : rows) {
    row.series.method = Method::duets;
    row.series.better = "lower";
    row.series.base = row.series.now = 1;
    for (int launch = 0; launch < launches; ++launch) {
      row.duets.logs.push_back(noise(random) + (&row == &rows.front() ? change : 0));
      row.duets.launches.push_back(launch);
    }
    row.duets.base = row.duets.now = std::vector<double>(static_cast<std::size_t>(launches), 1);
  }
  return rows;
}

bool has_changed(const Row& row) {
  return row.series.change == Change::regressed || row.series.change == Change::improved;
}

TEST(Looks, KeepTheRateOfFalseAlarms) {
  if (every_trial > 1) GTEST_SKIP() << "a rate; the tests of power run the same code";
  constexpr int runs = 2000;
  constexpr double alpha = 0.1;
  const auto alarms = [&](const std::vector<Look>& looks) {
    std::mt19937 random(1);
    int found = 0;
    for (int run = 0; run < runs; ++run) {
      auto rows = drawn(random, 3, 0);
      judge(rows, looks, {.alpha = alpha, .floor = 0});
      found += std::ranges::any_of(rows, has_changed) ? 1 : 0;
    }
    return found;
  };
  auto looks = looks_after({12, 18, 24}, all_launches);
  EXPECT_LE(alarms(looks), runs * alpha);
  EXPECT_GT(alarms(looks), runs * alpha / 2);
  // Were alpha not divided, there would be more than it allows.
  for (auto& look : looks) look.share = 1;
  EXPECT_GT(alarms(looks), 1.2 * runs * alpha);
}

// Of the rows that are not decided after the launches of all, the one with the least p goes on.
void judge_as_ab(std::vector<Row>& rows, const std::vector<Look>& looks, const Demands& demands) {
  const auto all = rows;
  for (auto& row : rows) row.duets = first_duets(row.duets, all_launches);
  const auto until_then = rows;
  judge(rows, looks, demands);
  std::size_t best = rows.size();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at].series.decided) continue;
    if (best == rows.size() || rows[at].series.p_alone < rows[best].series.p_alone) best = at;
  }
  if (best == rows.size()) return;
  rows = until_then;
  rows[best] = all[best];
  judge(rows, looks, demands);
}

TEST(Looks, KeepTheRateOfFalseAlarmsWhateverGoesOn) {
  if (every_trial > 1) GTEST_SKIP() << "a rate; the tests of power run the same code";
  constexpr int runs = 2000;
  constexpr double alpha = 0.1;
  std::mt19937 random(1);
  const auto alarms = [&](const std::vector<Look>& looks) {
    int found = 0;
    for (int run = 0; run < runs; ++run) {
      auto rows = drawn(random, 3, 0, 72);
      judge_as_ab(rows, looks, {.alpha = alpha, .floor = 0});
      found += std::ranges::any_of(rows, has_changed) ? 1 : 0;
    }
    return found;
  };
  auto looks = looks_after({12, 24, 48, 72}, all_launches);
  EXPECT_LE(alarms(looks), runs * alpha);
  EXPECT_GT(alarms(looks), runs * alpha / 3);
  // The most promising, tested again as if it were the first time.
  for (auto& look : looks) look.share = 1;
  EXPECT_GT(alarms(looks), 1.2 * runs * alpha);
}

TEST(Looks, FindMoreWhereANoisyRowGoesOn) {
  constexpr int runs = 200 / static_cast<int>(every_trial);
  const auto found = [](const std::vector<Look>& looks) {
    std::mt19937 random(1);
    int count = 0;
    for (int run = 0; run < runs; ++run) {
      auto rows = drawn(random, 4, 0.008, 72);
      judge_as_ab(rows, looks, {});
      count += has_changed(rows.front()) ? 1 : 0;
    }
    return count;
  };
  EXPECT_LT(found(looks_after({13, 24}, all_launches)), 0.65 * runs);
  EXPECT_GT(found(looks_after({13, 24, 48, 72}, all_launches)), 0.8 * runs);
}

TEST(Looks, FindALargeChangeSoonAndASmallOneAsOften) {
  constexpr int runs = 500 / static_cast<int>(every_trial);
  struct Power {
    int found = 0;
    double duets = 0;
  };
  const auto power = [](double change, const std::vector<Look>& looks) {
    std::mt19937 random(1);
    Power of;
    for (int run = 0; run < runs; ++run) {
      auto rows = drawn(random, 2, change);
      judge(rows, looks, {});
      of.found += has_changed(rows.front()) ? 1 : 0;
      of.duets += static_cast<double>(rows.front().series.base_launches) / runs;
    }
    return of;
  };
  const std::vector<Look> at_the_end = {{.after = all_launches}};
  const auto looks = looks_after(planned_looks(all_launches, 2, Demands{}.alpha), all_launches);
  EXPECT_EQ(power(0.05, looks).found, runs);
  EXPECT_LT(power(0.05, looks).duets, 14);
  const auto small = power(0.01, looks);
  EXPECT_GE(small.found, 0.95 * power(0.01, at_the_end).found);
  EXPECT_LT(small.duets, all_launches);
}

}  // namespace
}  // namespace ucxbench
