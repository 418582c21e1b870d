#include "workloads/svd/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"
#include "harness/run/description.hpp"

namespace ucxbench::svd {
namespace {

constexpr Local local{.ranks = 2, .memory_bytes = 1'000'000};

TEST(Parameters, StrongScalingDividesTheRows) {
  Parameters p;
  p.rows = 1000;
  p.ranks = 3;
  settle(p);
  EXPECT_EQ(p.rows, 1000U);
  p.scaling = Scaling::strong;
  settle(p);
  EXPECT_EQ(p.rows, 333U);
}

TEST(Parameters, CountAllRanksRows) {
  Parameters p;
  p.rows = 10;
  p.columns = 3;
  p.ranks = 2;
  EXPECT_EQ(input_bytes(p), 10U * 3 * 8 * 2);
}

TEST(Parameters, HaveMoreRowsThanColumns) {
  Parameters p;
  p.rows = 63;
  EXPECT_EQ(refusal_by([&] { check(p, local); }),
            "--rows: 63 in a rank are fewer than 64 columns; ask for more rows, or fewer columns");
  p.rows = 64;
  check(p, local);
}

TEST(Parameters, SayWhatFits) {
  Parameters p;
  EXPECT_EQ(refusal_by([&] { check(p, local); }),
            "--rows: 100000 of 64 columns in each of 2 ranks are more than the available memory; "
            "about 463 fit");
  p.rows = 463;
  check(p, local);
}

}  // namespace
}  // namespace ucxbench::svd
