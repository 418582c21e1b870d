#include "harness/core/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace ucxbench {
namespace {

TEST(Quantile, MatchesNumpysDefault) {
  // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .9, 1]) = 1, 1.75, 3, 6.8, 8
  const std::array values = {1.0, 2.0, 4.0, 8.0};
  EXPECT_DOUBLE_EQ(quantile_of_sorted(values, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(values, 0.5), 3.0);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(values, 0.9), 6.8);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(values, 1.0), 8.0);
  EXPECT_DOUBLE_EQ(quantile_of_sorted(std::array{5.0}, 0.9), 5.0);
}

TEST(Mean, IsTheArithmeticOne) { EXPECT_DOUBLE_EQ(mean(std::array{9.0, 1.0, 5.0, 3.0}), 4.5); }

TEST(Median, HasAnErrorEvenWhereMostValuesAreEqual) {
  EXPECT_NEAR(error_of_median({3, 1, 5, 2, 4}), 1 / 0.6745 * std::sqrt(1.5707963 / 5), 1e-12);
  EXPECT_NEAR(error_of_median({5, 5, 5, 5, 9}), 0.8 / 0.7979 * std::sqrt(1.5707963 / 5), 1e-12);
  EXPECT_EQ(error_of_median({7, 7, 7}), 0);
}

TEST(Median, SortsItsArgument) { EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5.0); }

TEST(MedianCi95, KnowsTheTableOfOrderStatistics) {
  EXPECT_EQ(median_ci95({1, 2, 3, 4, 5}), std::nullopt);
  // Conover, Practical Nonparametric Statistics, table A3: n = 6 → 1st and 6th, n = 9 → 2nd and
  // 8th, n = 20 → 6th and 15th.
  EXPECT_EQ(median_ci95({6, 5, 4, 3, 2, 1}), (std::array{1.0, 6.0}));
  EXPECT_EQ(median_ci95({1, 2, 3, 4, 5, 6, 7, 8, 9}), (std::array{2.0, 8.0}));
  std::vector<double> twenty(20);
  for (int i = 0; i < 20; ++i) twenty[static_cast<std::size_t>(i)] = i + 1;
  EXPECT_EQ(median_ci95(twenty), (std::array{6.0, 15.0}));
}

TEST(MedianCi95, CoversAsOftenAsItSays) {
  std::mt19937 random(1);
  std::exponential_distribution<double> draw(1.0);
  const double truth = std::log(2.0);
  int covered = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(11);
    for (auto& value : values) value = draw(random);
    const auto interval = median_ci95(values);
    covered += (*interval)[0] <= truth && truth <= (*interval)[1];
  }
  // The exact coverage for n = 11 is 98.8 %.
  EXPECT_NEAR(static_cast<double>(covered) / trials, 0.988, 0.008);
}

TEST(MedianCi95, SurvivesManyValues) {
  std::vector<double> values(20'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const auto interval = median_ci95(values);
  ASSERT_TRUE(interval.has_value());
  // n/2 ∓ 1.96·√n/2
  EXPECT_NEAR((*interval)[0], 9'861, 3);
  EXPECT_NEAR((*interval)[1], 10'138, 3);
}

TEST(EvenChoice, KeepsAllOrSpreads) {
  EXPECT_EQ(even_choice(3, 5), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(even_choice(10, 5), (std::vector<std::size_t>{0, 2, 4, 6, 8}));
  EXPECT_TRUE(even_choice(0, 5).empty());
}

}  // namespace
}  // namespace ucxbench
