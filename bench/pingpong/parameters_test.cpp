#include "bench/pingpong/parameters.hpp"

#include <gtest/gtest.h>

#include "harness/core/failure.hpp"

namespace ucxbench::pingpong {
namespace {

Parameters some() {
  Parameters p;
  p.bytes = 1U << 20U;
  p.transports = {"shm", "tcp"};
  return p;
}

TEST(CaseKey, IsStable) {
  EXPECT_EQ(case_key(some()), "pingpong/tag/host-host/shm+tcp/1MiB");
  auto p = some();
  p.api = Api::stream;
  p.bytes = 1000;
  p.window = 4;
  p.ranks = 8;
  p.progress = ProgressMode::parse("periodic:100us");
  p.connect_by = ConnectBy::sockaddr;
  p.latency = false;
  p.pool = false;
  EXPECT_EQ(case_key(p),
            "pingpong/stream/host-host/shm+tcp/1000B/connect-by=sockaddr/"
            "measure=bandwidth/pool=none/progress-mode=periodic:100us/ranks=8/window=4");
}

TEST(CaseKey, DoesNotDependOnHowLongWasMeasured) {
  auto p = some();
  p.iterations = 7;
  p.time_per_launch = std::chrono::seconds(9);
  p.check = Check::off;
  EXPECT_EQ(case_key(p), case_key(some()));
}

TEST(Parameters, SurviveTheWayToTheRank) {
  auto p = some();
  p.api = Api::stream;
  p.latency = false;
  p.bidirectional = true;
  p.iterations = 123;
  p.check = Check::full;
  p.net_devices = "lo";
  p.pool = false;
  p.devices = {3, 1};
  p.progress = ProgressMode::parse("event");
  const auto copy = parse_parameters(to_json(p));
  EXPECT_EQ(to_json(copy), to_json(p));
  EXPECT_FALSE(copy.latency);
  EXPECT_FALSE(copy.pool);
  EXPECT_EQ(copy.devices, (std::vector<int>{3, 1}));
  EXPECT_EQ(copy.iterations, 123U);
  EXPECT_FALSE(parse_parameters(to_json(some())).iterations.has_value());
}

TEST(Parameters, MeasureWhatIsNamed) {
  Parameters p;
  set_measured(p, "latency");
  EXPECT_TRUE(p.latency);
  EXPECT_FALSE(p.bandwidth);
  set_measured(p, "bandwidth,latency");
  EXPECT_TRUE(p.latency && p.bandwidth);
  EXPECT_THROW(set_measured(p, ""), Failure);
  EXPECT_THROW(set_measured(p, "latency,jitter"), Failure);
}

}  // namespace
}  // namespace ucxbench::pingpong
