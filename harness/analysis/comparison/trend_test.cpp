#include "harness/analysis/comparison/trend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace ucxbench {
namespace {

int score_of(const std::vector<double>& values) {
  int score = 0;
  for (std::size_t later = 1; later < values.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      score += values[later] > values[earlier] ? 1 : -1;
    }
  }
  return score;
}

TEST(Trend, CountsEveryOrder) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> values = {1, 2, 3, 4, 5, 6};
    std::shuffle(values.begin(), values.end(), random);
    std::vector<double> order = {1, 2, 3, 4, 5, 6};
    int as_far = 0;
    int orders = 0;
    do {
      ++orders;
      as_far += std::abs(score_of(order)) >= std::abs(score_of(values)) ? 1 : 0;
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_NEAR(trend_of(values).p, static_cast<double>(as_far) / orders, 1e-12) << trial;
  }
}

// Two of all orders go one way throughout.
TEST(Trend, HasItsSmallestValueForOneWay) {
  const std::vector<double> rising = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_NEAR(trend_of(rising).p, 2 / 3628800.0, 1e-12);
  EXPECT_NEAR(trend_of(std::vector<double>(rising.rbegin(), rising.rend())).p, 2 / 3628800.0,
              1e-12);
}

TEST(Trend, SaysHowMuch) {
  std::vector<double> values;
  values.reserve(11);
  for (int i = 0; i <= 10; ++i) values.push_back(5 * std::pow(1.2, i / 10.0));
  values[4] *= 30;  // one that is far off changes little
  EXPECT_NEAR(trend_of(values).change, 0.2, 0.01);
}

TEST(Trend, TakesTheNormalApproximationForTiesAndManyValues) {
  EXPECT_EQ(trend_of(std::vector<double>(12, 3.0)).p, 1);
  // score 28, variance (8·7·21 − 2·1·9)/18 = 64.33: z = (27 − 1)/8.021
  const std::vector<double> tied = {1, 2, 3, 4, 5, 6, 7, 7};
  EXPECT_NEAR(trend_of(tied).p, std::erfc(26 / std::sqrt(2 * 64.3333)), 1e-4);
  std::vector<double> many(200);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1 + static_cast<double>((i * 37) % 199);
  EXPECT_GT(trend_of(many).p, 0.01);
  EXPECT_EQ(trend_of(std::vector<double>{1}).p, 1);
}

}  // namespace
}  // namespace ucxbench
