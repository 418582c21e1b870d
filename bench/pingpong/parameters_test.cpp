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

TEST(Parameters, SayWhatIsNoDuet) {
  const auto why = find_benchmark("pingpong")->why_no_duet;
  EXPECT_EQ(why({{"api", "am"}, {"threads", 1}, {"progress_mode", "event"}}), "");
  EXPECT_EQ(why({{"api", "put"}}), "put needs progress at its target");
  EXPECT_EQ(why({{"threads", 2}}), "--threads 2");
  EXPECT_EQ(why({{"progress_mode", "periodic:100us"}}), "--progress-mode periodic:100us");
  EXPECT_EQ(why(Json::object()), "") << "a run of before";
}

TEST(Parameters, ColdBuffersHaveRoomForSeveralMessages) {
  Parameters p;
  p.bytes = 8;
  EXPECT_EQ(p.checked_places(), 32U);
  EXPECT_EQ(p.buffer_bytes(), 32U * 64);
  p.check = Check::off;
  EXPECT_EQ(p.buffer_bytes(), 8U);
  p.buffers = Buffers::cold;
  EXPECT_GE(p.buffer_bytes(), std::uint64_t{64} << 20U);
  p.bytes = (std::uint64_t{1} << 30U) + 1;
  EXPECT_GE(p.buffer_bytes(), 2 * p.bytes);
}

}  // namespace
}  // namespace ucxbench::pingpong
