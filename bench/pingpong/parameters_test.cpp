#include "bench/pingpong/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"
#include "harness/run/benchmark.hpp"

namespace ucxbench::pingpong {
namespace {

const Field& measure() { return *find_benchmark("pingpong")->parameters.find("measure"); }

TEST(Parameters, MeasureWhatIsNamed) {
  Parameters p;
  measure().set(&p, value_of(measure(), "latency"));
  EXPECT_TRUE(p.latency);
  EXPECT_FALSE(p.bandwidth);
  measure().set(&p, value_of(measure(), "bandwidth,latency"));
  EXPECT_TRUE(p.latency && p.bandwidth);
  EXPECT_THROW(measure().set(&p, value_of(measure(), "")), Failure);
  EXPECT_THROW(measure().set(&p, value_of(measure(), "latency,jitter")), Failure);
}

}  // namespace
}  // namespace ucxbench::pingpong
