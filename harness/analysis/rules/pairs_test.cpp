#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

/// Twelve pairs of four ranks at 10 GB/s, but for the first.
Result matrix_of_four(double first_GBps, const std::string& concurrent = "one") {
  auto result = made_run();
  auto of = made_case(1 << 20, {"tcp"});
  of.parameters["concurrent"] = concurrent;
  for (int src = 0; src < 4; ++src) {
    for (int dst = 0; dst < 4; ++dst) {
      if (src == dst) continue;
      const double rate = of.pairs.empty() ? first_GBps : 10;
      of.pairs.push_back({{"src", src},
                          {"dst", dst},
                          {"p25_GBps", 0.95 * rate},
                          {"p50_GBps", rate},
                          {"p75_GBps", 1.05 * rate}});
    }
  }
  result.cases = {of};
  return result;
}

TEST(SlowPair, IsBelowItsClass) {
  EXPECT_EQ(said(slow_pair, matrix_of_four(5)),
            Said{"pingpong tag, host to host, over tcp, 1 MiB: 0->1 reaches 5.00 GB/s, the median "
                 "of the pairs is 10.0"});
  // 1 MiB at 5 GB/s instead of 10.
  EXPECT_NEAR(slow_pair(Judged(matrix_of_four(5)))[0].cost_ms.value_or(0), 0.105, 0.001);
  EXPECT_EQ(said(slow_pair, matrix_of_four(9)), Said());
  EXPECT_EQ(said(slow_pair, matrix_of_four(5, "all")), Said());
}

TEST(AboveLimit, NoLinkCarriesMoreThanItCan) {
  auto result = matrix_of_four(12);
  auto& of = result.cases[0];
  for (auto& pair : of.pairs) pair["limit_GBps"] = 11.5;
  EXPECT_EQ(said(above_limit, result),
            Said{"pingpong tag, host to host, over tcp, 1 MiB: 0->1 reaches 12.0 GB/s, its links "
                 "carry 11.5"});
  of.labels = {"emulated-gpu"};
  EXPECT_EQ(said(above_limit, result), Said()) << "its links are made up";
  of.labels.clear();
  of.pairs[0]["limit_GBps"] = nullptr;
  EXPECT_EQ(said(above_limit, result), Said());
}

TEST(AsymmetricPair, IsWhereTheStreamsDoNotOverlap) {
  EXPECT_EQ(said(asymmetric_pair, matrix_of_four(5)),
            Said{"pingpong tag, host to host, over tcp, 1 MiB: 0->1 reaches 5.00 GB/s, 1->0 10.0"});
  EXPECT_EQ(said(asymmetric_pair, matrix_of_four(9)), Said());
  auto result = matrix_of_four(5);
  result.cases[0].pairs[0]["p75_GBps"] = 9;
  EXPECT_EQ(said(asymmetric_pair, result), Said());
}

}  // namespace
}  // namespace ucxbench
