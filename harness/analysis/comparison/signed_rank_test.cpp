#include "harness/analysis/comparison/signed_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace ucxbench {
namespace {

// Over all choices of signs of these ranks.
double p_by_enumeration(const std::vector<double>& ranks, double positive) {
  double all = 0;
  for (const auto rank : ranks) all += rank;
  std::size_t far = 0;
  const auto choices = std::size_t{1} << ranks.size();
  for (std::size_t choice = 0; choice < choices; ++choice) {
    double sum = 0;
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      if ((choice >> at & 1U) != 0) sum += ranks[at];
    }
    if (std::abs(sum - all / 2) >= std::abs(positive - all / 2)) ++far;
  }
  return static_cast<double>(far) / static_cast<double>(choices);
}

TEST(SignedRank, IsExact) {
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{0.3, -0.1, 0.2, 0.5, 0.4}),
                   p_by_enumeration({1, 2, 3, 4, 5}, 14));
  // Equal ones share their rank; a zero has the first, and counts for neither side.
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{0.0, 0.1, -0.1, 0.2, 0.3}),
                   p_by_enumeration({2.5, 2.5, 4, 5}, 11.5));
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector{0.0, 0.0}), 1);
}

TEST(SignedRank, KnowsItsSmallest) {
  std::vector<double> logs;
  for (int duet = 1; duet <= 9; ++duet) logs.push_back(0.01 * duet);
  EXPECT_DOUBLE_EQ(signed_rank_p(logs), smallest_signed_rank_p(9));
  EXPECT_DOUBLE_EQ(smallest_signed_rank_p(9), 2.0 / 512);
  EXPECT_DOUBLE_EQ(smallest_signed_rank_p(1), 1);
}

TEST(SignedRank, OfManyIsNearlyTheExactOne) {
  std::mt19937 random(1);
  std::normal_distribution<double> spread(0.2, 1);
  std::vector<double> logs(100);
  std::ranges::generate(logs, [&] { return spread(random); });
  const auto exact = signed_rank_p(logs);
  logs.push_back(1e-9);  // the least of all
  EXPECT_NEAR(signed_rank_p(logs) / exact, 1, 0.2);
}

// A ratio is outside just where the test refuses it.
TEST(SignedRank, ItsIntervalIsTheTests) {
  std::mt19937 random(2);
  std::normal_distribution<double> spread(0.02, 0.01);
  for (const std::size_t count : {8U, 9U, 15U, 24U}) {
    std::vector<double> logs(count);
    std::ranges::generate(logs, [&] { return spread(random); });
    const auto ratio = signed_rank_ratio(logs, 0.99);
    ASSERT_TRUE(ratio.interval) << count;
    EXPECT_LT((*ratio.interval)[0], ratio.estimate);
    EXPECT_GT((*ratio.interval)[1], ratio.estimate);
    for (const auto limit : *ratio.interval) {
      const auto p_at = [&](double log) {
        auto moved = logs;
        for (auto& value : moved) value -= log;
        return signed_rank_p(moved);
      };
      const auto out = limit < ratio.estimate ? -1e-9 : 1e-9;
      EXPECT_LE(p_at(std::log(limit) + out), 0.01) << count;
      EXPECT_GT(p_at(std::log(limit) - out), 0.01) << count;
    }
  }
  EXPECT_FALSE(signed_rank_ratio(std::vector{0.1, 0.2, 0.3}, 0.99).interval);
  EXPECT_DOUBLE_EQ(signed_rank_ratio(std::vector{std::log(1.5)}, 0.99).estimate, 1.5);
}

TEST(TrimmedMean, LeavesOutAFifthAtEachEnd) {
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector{100.0, 1.0, 2.0, 3.0, -50.0}), 2);
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector{1.0, 3.0}), 2);
}

}  // namespace
}  // namespace ucxbench
