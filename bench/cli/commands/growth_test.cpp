#include "bench/cli/commands/growth.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ucxbench {
namespace {

std::vector<double> noise(std::size_t count, double per_step) {
  std::mt19937_64 generator(7);
  std::vector<double> values;
  for (std::size_t at = 0; at < count; ++at) {
    values.push_back(static_cast<double>(generator() % 1000) + per_step * static_cast<double>(at));
  }
  return values;
}

TEST(GrowthOf, NeedsSomeValues) {
  EXPECT_FALSE(growth_of({}));
  EXPECT_FALSE(growth_of(std::vector<double>(12, 1.0)));
  EXPECT_TRUE(growth_of(std::vector<double>(13, 1.0)));
}

TEST(GrowthOf, IsNoneOfNoiseAndOfWhatIsTakenAtFirst) {
  EXPECT_LT(growth_of(noise(100, 0))->least, 0);
  auto settled = std::vector<double>(25, 5.0);
  settled.resize(100, 900.0);
  EXPECT_EQ(growth_of(settled)->total, 0);
  EXPECT_EQ(growth_of(settled)->least, 0);
}

TEST(GrowthOf, IsFoundInNoise) {
  const auto found = growth_of(noise(2000, 2));
  EXPECT_NEAR(found->total, 2 * 1500, 150);
  EXPECT_GT(found->least, 2500);
}

TEST(GrowthOf, OneOutlierIsNone) {
  auto values = std::vector<double>(40, 3.0);
  values[30] = 1000;
  EXPECT_EQ(growth_of(values)->total, 0);
}

}  // namespace
}  // namespace ucxbench
