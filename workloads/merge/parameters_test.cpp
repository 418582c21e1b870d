#include "workloads/merge/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench::merge {
namespace {

TEST(Parameters, ComeBackFromTheirFile) {
  Parameters p;
  p.rows = 1234;
  p.frac_match = 0.7;
  p.generator = Generator::Kind::dask;
  p.payload_columns = 3;
  p.batches = 5;
  p.framing = Framing::frames;
  p.injected = Injected::drop;
  p.common.scaling = Scaling::strong;
  p.common.like = "mpi4dask";
  p.common.scale = 0.5;
  EXPECT_EQ(to_json(parse_parameters(to_json(p))), to_json(p));
}

TEST(Parameters, NameTheCase) {
  Parameters p;
  p.common.transports = {"tcp", "shm"};
  EXPECT_EQ(case_key(p), "merge/tag/host-host/tcp+shm/1M/ranks=2");
  p.skew = 1.2;
  p.bulk_synchronous = true;
  EXPECT_EQ(case_key(p), "merge/tag/host-host/tcp+shm/1M/bulk-synchronous=yes/ranks=2/skew=1.2");
}

TEST(Scaling, StrongDividesTheRows) {
  Parameters whole;
  whole.rows = 1000;
  EXPECT_EQ(for_ranks(whole, 4).rows, 1000U);
  whole.common.scaling = Scaling::strong;
  EXPECT_EQ(for_ranks(whole, 4).rows, 250U);
  EXPECT_EQ(for_ranks(whole, 3).rows, 333U);
  EXPECT_THROW(for_ranks(whole, 1001), Failure);
  whole.common.scaling = Scaling::weak;
  EXPECT_EQ(for_ranks(whole, 1001).rows, 1000U);
}

TEST(Cost, HoldsBeyondTwoToThe33Rows) {
  Parameters p;
  p.rows = std::uint64_t{1} << 33U;
  EXPECT_EQ(input_bytes(p), std::uint64_t{32} << 33U);
  // Tables and their partitioned copies, three quarters of them once more, and 24 bytes a match.
  p.frac_match = 0.5;
  EXPECT_EQ(memory_bytes(p, 4), (std::uint64_t{88} << 33U) + (std::uint64_t{12} << 33U));
}

}  // namespace
}  // namespace ucxbench::merge
