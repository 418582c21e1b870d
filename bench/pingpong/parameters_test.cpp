#include "bench/pingpong/parameters.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/result/shows.hpp"
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

// A case that fails has no figures: what was asked of it is what it shows.
TEST(Parameters, ShowWhatIsMeasured) {
  const auto judged = [](const Json& more) {
    Json parameters = {{"api", "tag"}, {"memory", {"host", "host"}}, {"transports", {"tcp"}}};
    parameters.update(more);
    std::vector<std::string> names;
    for (const auto& metric :
         shows_of(find_benchmark("pingpong")->shows, "pingpong", parameters).metrics) {
      if (metric.judged) names.push_back(metric.name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(judged({{"measure", {"latency"}}}), Names{"latency_us"});
  EXPECT_EQ(judged({{"measure", {"bandwidth"}}}), Names{"bandwidth_GBps"});
  EXPECT_EQ(judged({{"measure", {"latency", "bandwidth"}}, {"bidirectional", true}}),
            (Names{"latency_us", "bandwidth_GBps", "bandwidth_bidirectional_GBps"}));
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
