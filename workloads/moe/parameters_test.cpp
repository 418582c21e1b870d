#include "workloads/moe/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"
#include "harness/run/description.hpp"

namespace ucxbench::moe {
namespace {

constexpr Local local{.ranks = 8, .memory_bytes = 10'000'000'000};

Parameters of_8_ranks() {
  Parameters p;
  p.ranks = 8;
  return p;
}

TEST(Parameters, StrongScalingDividesTheTokens) {
  auto p = of_8_ranks();
  p.scaling = Scaling::strong;
  p.tokens = 4100;
  settle(p);
  EXPECT_EQ(p.tokens, 512U);
  EXPECT_EQ(input_bytes(p), 512U * 2048 * 8);
}

TEST(Parameters, SayWhatCannotBe) {
  const auto refusal = [](auto change) {
    auto p = of_8_ranks();
    check(p, local);
    change(p);
    return refusal_by([&] { check(p, local); });
  };
  EXPECT_EQ(refusal([](auto& p) { p.ranks = 1; }), "--ranks 1: moe needs at least two");
  EXPECT_EQ(refusal([](auto& p) { p.tokens = 0; }),
            "--tokens: strong scaling leaves a rank nothing; ask for more");
  EXPECT_EQ(refusal([](auto& p) { p.token_bytes = 12; }),
            "--token-size: 12 B; expected a multiple of 8");
  EXPECT_EQ(refusal([](auto& p) { p.experts = 7; }),
            "--experts: 7 are fewer than 8 ranks; each has one at least");
  EXPECT_EQ(refusal([](auto& p) { p.top_k = 65; }),
            "--top-k: 65 of 64 experts that --routing uniform chooses among");
  EXPECT_EQ(refusal([](auto& p) { p.routing = "hot:7"; }),
            "--top-k: 8 of 7 experts that --routing hot:7 chooses among");
  EXPECT_EQ(refusal([](auto& p) { p.tokens = 1'000'000; }),
            "--tokens: 1000000 in each of 8 ranks are more than the available memory; 29064 fit");
}

}  // namespace
}  // namespace ucxbench::moe
