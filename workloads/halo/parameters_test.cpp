#include "workloads/halo/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"
#include "harness/run/description.hpp"

namespace ucxbench::halo {
namespace {

TEST(Parameters, StrongScalingDividesTheDomain) {
  Parameters p;
  p.size = 1000;
  p.ranks = 4;
  settle(p);
  EXPECT_EQ(p.size, 1000U);
  p.scaling = Scaling::strong;
  settle(p);
  EXPECT_EQ(p.size, 500U);
}

TEST(Parameters, CountEveryStep) {
  Parameters p;
  p.size = 10;
  p.steps = 3;
  p.ranks = 2;
  EXPECT_EQ(input_bytes(p), 3U * 100 * 8 * 2);
}

TEST(Parameters, SayWhatFits) {
  Parameters p;
  p.size = 10'000;
  const Local local{.ranks = 2, .memory_bytes = 1'000'000'000};
  EXPECT_EQ(
      refusal_by([&] { check(p, local); }),
      "--size: tiles of 10000 rows and columns in each of 2 ranks are more than the available "
      "memory; about 5534 fit");
  p.size = 5534;
  check(p, local);
}

}  // namespace
}  // namespace ucxbench::halo
