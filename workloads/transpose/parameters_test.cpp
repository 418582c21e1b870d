#include "workloads/transpose/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/run/description.hpp"

namespace ucxbench::transpose {
namespace {

std::string refusal(const Parameters& p, std::uint64_t available) {
  try {
    check(p, {.ranks = p.ranks, .memory_bytes = available});
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    return failure.what();
  }
  return "";
}

std::uint64_t size_of(Parameters asked, int ranks) {
  asked.ranks = ranks;
  settle(asked);
  return asked.size;
}

TEST(Scaling, WeakGivesEveryRankAsMuch) {
  Parameters asked;
  asked.size = 1000;
  EXPECT_EQ(size_of(asked, 4), 1000U);
  asked.scaling = Scaling::weak;
  EXPECT_EQ(size_of(asked, 1), 1000U);
  EXPECT_EQ(size_of(asked, 4), 2000U);
  EXPECT_EQ(size_of(asked, 2), 1414U);
  asked.scaling = Scaling::strong;
  EXPECT_EQ(size_of(asked, 4), 1000U);
}

TEST(Check, SaysHowLargeAnArrayFits) {
  Parameters p;
  constexpr std::uint64_t memory = std::uint64_t{8} << 30U;
  EXPECT_EQ(refusal(p, memory), "");
  p.size = 1'000'000;
  const auto said = refusal(p, memory);
  const auto most = said.find("at most ");
  ASSERT_NE(most, std::string::npos) << said;
  p.size = std::stoull(said.substr(most + 8));
  EXPECT_EQ(refusal(p, memory), "");
  ++p.size;
  EXPECT_NE(refusal(p, memory), "");
}

TEST(Check, RefusesChunksThatDoNotFit) {
  Parameters p;
  p.size = 1000;
  EXPECT_NE(refusal(p, 1U << 30U).find("--chunk-size: 2500 is more than"), std::string::npos);
  p.chunk_size = 1;
  EXPECT_EQ(refusal(p, 1U << 30U), "");
  p.size = 100'000;
  EXPECT_NE(refusal(p, std::uint64_t{1} << 50U).find("at least 98"), std::string::npos);
}

TEST(Check, RefusesWhatNoMachineHolds) {
  Parameters p;
  p.size = std::uint64_t{1} << 53U;
  p.chunk_size = p.size;
  EXPECT_NE(refusal(p, std::uint64_t{1} << 34U).find("--size"), std::string::npos);
}

}  // namespace
}  // namespace ucxbench::transpose
