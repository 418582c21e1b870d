#include "harness/result/samples.hpp"

#include <gtest/gtest.h>

#include <numeric>

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

TEST(Samples, KeepRunOrderAndSayHowManyWereSeen) {
  const auto samples = make_samples(count_down(1000), 4);
  EXPECT_EQ(samples.seen, 1000U);
  EXPECT_EQ(samples.values, (std::vector<double>{1000, 750, 500, 250}));
  EXPECT_EQ(samples.quantiles.count, 1000U);
}

}  // namespace
}  // namespace ucxbench
