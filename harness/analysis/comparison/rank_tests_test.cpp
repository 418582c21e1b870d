#include "harness/analysis/comparison/rank_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "harness/core/every_for_test.hpp"
#include "harness/core/statistics.hpp"

namespace ucxbench {
namespace {

double midrank(const std::vector<double>& all, double value) {
  const auto below = std::ranges::count_if(all, [&](double other) { return other < value; });
  const auto equal = std::ranges::count(all, value);
  return static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2;
}

std::vector<double> together(const Stratum& of) {
  auto all = of.now;
  all.insert(all.end(), of.base.begin(), of.base.end());
  return all;
}

// The share of all ways to choose, in each stratum, which of the values are the new run's, in which
// the weighted rank sums are as far from their mean as they are.
double p_by_enumeration(const std::vector<Stratum>& strata, const std::vector<double>& weights) {
  std::map<double, double> sums = {{0, 1}};  // less their mean: ways
  double seen = 0;
  for (std::size_t at = 0; at < strata.size(); ++at) {
    const auto all = together(strata[at]);
    const auto n = strata[at].now.size();
    const auto middle = static_cast<double>(n * (all.size() + 1)) / 2;
    for (const auto value : strata[at].now) seen += weights[at] * midrank(all, value);
    seen -= weights[at] * middle;
    std::map<double, double> next;
    for (unsigned chosen = 0; chosen < 1U << all.size(); ++chosen) {
      if (static_cast<std::size_t>(std::popcount(chosen)) != n) continue;
      double sum = -middle;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if ((chosen >> i & 1U) != 0) sum += midrank(all, all[i]);
      }
      for (const auto& [before, ways] : sums) next[before + weights[at] * sum] += ways;
    }
    sums = std::move(next);
  }
  double as_far = 0;
  double all = 0;
  for (const auto& [sum, ways] : sums) {
    all += ways;
    as_far += std::abs(sum) >= std::abs(seen) - 1e-9 ? ways : 0;
  }
  return as_far / all;
}

double p_of(const std::vector<double>& base, const std::vector<double>& now) {
  return rank_sum_p(std::vector{Stratum{base, now}});
}

// Few distinct values: ties.
Stratum random_stratum(std::mt19937& random, std::size_t base, std::size_t now, unsigned distinct) {
  Stratum of{std::vector<double>(base), std::vector<double>(now)};
  for (auto* side : {&of.base, &of.now}) {
    for (auto& value : *side) value = 1 + random() % distinct;
  }
  return of;
}

TEST(RankSum, CountsEveryPermutation) {
  std::mt19937 random(7);
  for (unsigned trial = 0; trial < 40; ++trial) {
    const auto of =
        random_stratum(random, 1 + trial % 6, 2 + trial % 5, trial % 2 == 0 ? 4 : 1000000);
    EXPECT_NEAR(rank_sum_p(std::vector{of}), p_by_enumeration({of}, {1}), 1e-12) << trial;
  }
}

// Weights are whole numbers: of strata of 9, 6, 3 and 2 values 4 x 10/10, 10/7, 10/4 and 10/3.
TEST(RankSum, CountsEveryPermutationWithinStrata) {
  std::mt19937 random(8);
  for (unsigned trial = 0; trial < 20; ++trial) {
    const unsigned distinct = trial % 2 == 0 ? 4 : 1000000;
    std::vector<Stratum> strata;
    for (const auto& [base, now] : {std::pair{4, 5}, {1, 5}, {2, 1}, {1, 1}}) {
      strata.push_back(random_stratum(random, static_cast<std::size_t>(base),
                                      static_cast<std::size_t>(now), distinct));
    }
    EXPECT_NEAR(rank_sum_p(strata), p_by_enumeration(strata, {4, 6, 10, 13}), 1e-12) << trial;
  }
}

// Of complete separation only two of all ways to choose are as far apart.
TEST(RankSum, HasItsSmallestValueWhereSamplesAreApart) {
  const std::vector<double> low = {1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> high = {8, 9, 10, 11, 12, 13, 14};
  EXPECT_NEAR(p_of(low, high), 2.0 / 3432, 1e-12);
  EXPECT_NEAR(smallest_p(7, 7), 2.0 / 3432, 1e-12);
  EXPECT_NEAR(smallest_p(8, 8), 1.554e-4, 1e-7);
  EXPECT_NEAR(p_of(low, low), 1, 1e-9);
}

// As scipy 1.17's mannwhitneyu(method='exact') has it.
TEST(RankSum, CountsLargeSamples) {
  std::vector<double> base;
  std::vector<double> now;
  for (int i = 0; i < 90; ++i) (i * 7 % 9 < 6 - i / 18 ? base : now).push_back(i + 1);
  ASSERT_EQ(base.size(), 40U);
  EXPECT_NEAR(p_of(base, now), 0.002708898893275127, 1e-12);
}

// Ties, so that the one is counted with them and the other not at all.
TEST(RankSum, ApproximatesLargeSamplesWell) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(10, 1);
  const auto sample = [&](std::size_t size, double more) {
    std::vector<double> values(size);
    for (auto& value : values) value = std::round(4 * (noise(random) + more)) / 4;
    return values;
  };
  auto a = sample(60, 0);
  const auto b = sample(60, 0.6);
  const auto exact = p_of(a, b);
  EXPECT_LT(exact, 0.01);
  auto more = a;
  for (int times = 0; times < 2; ++times) more.insert(more.end(), a.begin(), a.end());
  auto more_b = b;
  for (int times = 0; times < 2; ++times) more_b.insert(more_b.end(), b.begin(), b.end());
  // Three times as many have the square root of three as many standard deviations.
  const auto deviations = [](double p) {
    double z = 0;
    while (std::erfc(z / std::sqrt(2)) > p) z += 1e-4;
    return z;
  };
  EXPECT_NEAR(deviations(p_of(more, more_b)) / deviations(exact), std::sqrt(3), 0.03);
}

TEST(Holm, CorrectsStepByStep) {
  const auto corrected = holm({0.01, 0.04, 0.03, 0.005});
  EXPECT_NEAR(corrected[3], 0.02, 1e-12);
  EXPECT_NEAR(corrected[0], 0.03, 1e-12);
  EXPECT_NEAR(corrected[2], 0.06, 1e-12);
  EXPECT_NEAR(corrected[1], 0.06, 1e-12);
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm({0.7}), std::vector<double>{0.7});
}

TEST(Ratio, IsTheMedianOfAllWithItsInterval) {
  const std::vector<double> a = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  std::vector<double> b;
  for (const auto value : a) b.push_back(value * 1.5);
  const auto ratio = ratio_of(std::vector{Stratum{a, b}}, 0.95);
  EXPECT_NEAR(ratio.estimate, 1.5, 1e-9);
  ASSERT_TRUE(ratio.interval);
  EXPECT_LT((*ratio.interval)[0], 1.5);
  EXPECT_GT((*ratio.interval)[1], 1.5);
  // As the test at 5 %: it leaves out 1 exactly where that finds a difference.
  EXPECT_EQ((*ratio.interval)[0] > 1, p_of(a, b) <= 0.05);
  EXPECT_FALSE(ratio_of(std::vector{Stratum{{1, 2}, {3, 4}}}, 0.95).interval);
}

// 95 % of such intervals have the truth in them, or a little more.
TEST(Ratio, IntervalsCover) {
  std::mt19937 random(5);
  std::lognormal_distribution<double> noise(0, 0.1);
  int covered = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> a(10);
    std::vector<double> b(10);
    for (auto& value : a) value = noise(random);
    for (auto& value : b) value = 1.1 * noise(random);
    const auto [low, high] = *ratio_of(std::vector{Stratum{a, b}}, 0.95).interval;
    covered += low <= 1.1 && 1.1 <= high ? 1 : 0;
  }
  EXPECT_GT(covered, trials * 0.94);
  EXPECT_LT(covered, trials * 0.975);
}

// The layout: what a placement does is four times what the loss does, and the runs met them
// unequally often.
std::vector<Stratum> unequally_met(std::mt19937& random, double loss, std::size_t often,
                                   std::size_t seldom) {
  std::student_t_distribution<double> noise(3);
  std::vector<Stratum> strata;
  for (const auto level : {1.0, 4.0}) {
    auto& of = strata.emplace_back();
    const bool first = level == 1;
    of.base.resize(first ? often : seldom);
    of.now.resize(first ? seldom : often);
    for (auto& value : of.base) value = level * std::exp(0.03 * noise(random));
    for (auto& value : of.now) value = loss * level * std::exp(0.03 * noise(random));
  }
  return strata;
}

TEST(Ratio, OfStrataUnequallyMetIsTheTruth) {
  for (const auto& [often, seldom] : {std::pair{22, 2}, {18, 6}, {12, 12}}) {
    std::mt19937 random(3);
    std::vector<double> estimates;
    int covered = 0;
    int found = 0;
    constexpr int trials = 200 / static_cast<int>(every_trial);
    for (int trial = 0; trial < trials; ++trial) {
      const auto strata = unequally_met(random, 1.5, static_cast<std::size_t>(often),
                                        static_cast<std::size_t>(seldom));
      const auto ratio = ratio_of(strata, 0.95);
      estimates.push_back(ratio.estimate);
      covered += (*ratio.interval)[0] <= 1.5 && 1.5 <= (*ratio.interval)[1] ? 1 : 0;
      found += rank_sum_p(strata) < 0.005 ? 1 : 0;
    }
    EXPECT_NEAR(median(estimates), 1.5, 0.015) << often;
    EXPECT_GE(covered, trials * 0.93 - 1) << often;
    EXPECT_GE(found, trials * 0.95) << often;
  }
}

// 48 launches of as many as 20 placements: where nothing changed, p is rarely that small.
TEST(RankSum, OfManyTinyStrataRaisesNoFalseAlarms) {
  std::mt19937 random(4);
  std::student_t_distribution<double> noise(2);
  constexpr int trials = 1000;
  int small = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::map<unsigned, Stratum> met;
    for (unsigned launch = 0; launch < 48; ++launch) {
      const auto placement = static_cast<unsigned>(random() % 20);
      auto& of = met[placement];
      (launch % 4 % 3 == 0 ? of.base : of.now)
          .push_back((1 + 0.3 * placement) * std::exp(0.03 * noise(random)));
    }
    std::vector<Stratum> strata;
    for (const auto& [placement, of] : met) {
      if (!of.base.empty() && !of.now.empty()) strata.push_back(of);
    }
    small += rank_sum_p(strata) < 0.05 ? 1 : 0;
  }
  // 5 % and four standard deviations.
  EXPECT_LE(small, 78);
  EXPECT_GE(small, 20);
}

TEST(Ratio, OfMoreThanTwoHundredHasAnInterval) {
  std::mt19937 random(6);
  std::lognormal_distribution<double> noise(0, 0.05);
  for (const std::size_t size : {150U, 400U}) {
    int covered = 0;
    constexpr int trials = 200 / static_cast<int>(every_trial);
    for (int trial = 0; trial < trials; ++trial) {
      Stratum of{std::vector<double>(size), std::vector<double>(size)};
      for (auto& value : of.base) value = noise(random);
      for (auto& value : of.now) value = 1.02 * noise(random);
      const auto interval = ratio_of(std::vector{of}, 0.95).interval;
      ASSERT_TRUE(interval);
      covered += (*interval)[0] <= 1.02 && 1.02 <= (*interval)[1] ? 1 : 0;
    }
    EXPECT_GE(covered, trials * 0.91) << size;
    EXPECT_LE(covered, trials * 0.99) << size;
  }
}

}  // namespace
}  // namespace ucxbench
