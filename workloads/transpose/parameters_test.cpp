#include "workloads/transpose/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench::transpose {
namespace {

std::string refusal(const Parameters& p, std::uint64_t available) {
  try {
    check(p, available);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::usage);
    return failure.what();
  }
  return "";
}

TEST(Parameters, ComeBackFromTheirFile) {
  Parameters p;
  p.size = 1234;
  p.chunk_size = 56;
  p.outcome = Outcome::sum;
  p.bulk_synchronous = true;
  p.injected = Injected::misroute;
  p.common.scaling = Scaling::weak;
  p.common.like = "dask-cuda";
  p.common.scale = 0.25;
  EXPECT_EQ(to_json(parse_parameters(to_json(p))), to_json(p));
}

TEST(Parameters, NameTheCase) {
  Parameters p;
  p.common.transports = {"shm"};
  EXPECT_EQ(case_key(p), "transpose/tag/host-host/shm/10K/ranks=2");
  p.chunk_size = 1000;
  p.outcome = Outcome::sum;
  EXPECT_EQ(case_key(p), "transpose/tag/host-host/shm/10K/chunk-size=1K/ranks=2/result=sum");
}

TEST(Scaling, WeakGivesEveryRankAsMuch) {
  Parameters one;
  one.size = 1000;
  EXPECT_EQ(for_ranks(one, 4).size, 1000U);
  EXPECT_EQ(for_ranks(one, 4).common.ranks, 4);
  one.common.scaling = Scaling::weak;
  EXPECT_EQ(for_ranks(one, 1).size, 1000U);
  EXPECT_EQ(for_ranks(one, 4).size, 2000U);
  EXPECT_EQ(for_ranks(one, 2).size, 1414U);
  one.common.scaling = Scaling::strong;
  EXPECT_EQ(for_ranks(one, 4).size, 1000U);
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
