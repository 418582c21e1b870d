#include "harness/result/interval.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Interval ci95(double low, double high) { return {low, high, Interval::Kind::ci95}; }

void expect_ends(const std::optional<Interval>& interval, double low, double high) {
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->low, low);
  EXPECT_DOUBLE_EQ(interval->high, high);
}

TEST(Interval, OfTwoMediansIsFromTheirFartherEnds) {
  expect_ends(sum(ci95(1, 2), ci95(10, 20)), 11, 22);
  expect_ends(difference(ci95(1, 2), ci95(10, 20)), -19, -8);
  expect_ends(quotient(ci95(10, 20), ci95(2, 4)), 2.5, 10);
  expect_ends(quotient(ci95(-10, 20), ci95(2, 4)), -5, 10);
  expect_ends(quotient(ci95(-20, -10), ci95(2, 4)), -10, -2.5);
  expect_ends(scaled(ci95(1, 2), 3), 3, 6);
}

TEST(Interval, OfARangeIsARange) {
  const Interval range{1, 2, Interval::Kind::range};
  for (const auto& of : {sum(range, ci95(1, 2)), difference(ci95(1, 2), range),
                         quotient(range, ci95(1, 2)), scaled(range, 2)}) {
    ASSERT_TRUE(of);
    EXPECT_EQ(of->kind, Interval::Kind::range);
  }
  EXPECT_EQ(sum(ci95(1, 2), ci95(1, 2))->kind, Interval::Kind::ci95);
}

TEST(Interval, OfWhatIsNotKnownIsNone) {
  EXPECT_FALSE(sum(std::nullopt, ci95(1, 2)));
  EXPECT_FALSE(difference(ci95(1, 2), std::nullopt));
  EXPECT_FALSE(quotient(ci95(1, 2), std::nullopt));
  EXPECT_FALSE(scaled(std::nullopt, 2));
  EXPECT_FALSE(quotient(ci95(1, 2), ci95(0, 2)));  // there is no upper end
}

}  // namespace
}  // namespace ucxbench
