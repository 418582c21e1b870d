#include "harness/result/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ucxbench {
namespace {

std::vector<double> count_down(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Quantiles, LeaveEmptyWhatTooFewSamplesCannotTell) {
  EXPECT_FALSE(quantiles_of({}).p50.has_value());
  const auto nine = quantiles_of(count_down(9));
  EXPECT_EQ(nine.p50, 5.0);
  EXPECT_FALSE(nine.p90.has_value());
  EXPECT_TRUE(quantiles_of(count_down(10)).p90.has_value());
  EXPECT_FALSE(quantiles_of(count_down(99)).p99.has_value());
  EXPECT_TRUE(quantiles_of(count_down(100)).p99.has_value());
  EXPECT_FALSE(quantiles_of(count_down(999)).p999.has_value());
  const auto thousand = quantiles_of(count_down(1000));
  EXPECT_NEAR(*thousand.p999, 999.001, 1e-9);
  EXPECT_EQ(thousand.min, 1.0);
  EXPECT_EQ(thousand.max, 1000.0);
}

/// 1000 readings of 225 ns and a little, by a clock of 5 ns: `upper` of them a step later.
Quantiles read_by_steps(int upper) {
  std::vector<double> values(1000, 225);
  std::fill_n(values.begin(), upper, 230);
  // Rounded to ticks: two readings of one step differ by less.
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] += 0.2;
  return quantiles_of(values, 5);
}

TEST(Quantiles, ShowAChangeBelowAStepOfTheClock) {
  // Each of these has the same reading in the middle: 225.
  double last = 0;
  for (const int upper : {0, 100, 200, 300, 400, 490}) {
    const auto p50 = *read_by_steps(upper).p50;
    EXPECT_GT(p50, last + 0.1) << upper;
    EXPECT_NEAR(p50, 225 + 5 * upper / 1000.0, 0.6) << upper;
    last = p50;
  }
  EXPECT_LT(*read_by_steps(490).p50, *read_by_steps(510).p50);
  EXPECT_NEAR(*read_by_steps(0).p50, 225, 0.1);
}

TEST(Quantiles, KeepTheReadingsThemselvesAtTheEnds) {
  const auto q = read_by_steps(300);
  EXPECT_EQ(q.min, 225);
  EXPECT_EQ(q.max, 230.2);
}

TEST(Quantiles, AreThoseOfTheReadingsWhereTheseAreFarApart) {
  const std::vector<double> values = {100, 250, 320, 470};
  EXPECT_EQ(quantiles_of(values, 5).p50, quantiles_of(values).p50);
  EXPECT_EQ(quantiles_of({10, 20}, 5).p50, 15);
}

TEST(Samples, KeepRunOrderAndSayHowManyWereSeen) {
  const auto samples = make_samples(count_down(1000), 4);
  EXPECT_EQ(samples.seen, 1000U);
  EXPECT_EQ(samples.values, (std::vector<double>{1000, 750, 500, 250}));
  EXPECT_EQ(samples.quantiles.count, 1000U);
}

}  // namespace
}  // namespace ucxbench
