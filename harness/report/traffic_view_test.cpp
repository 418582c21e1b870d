#include "harness/report/traffic_view.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ucxbench {
namespace {

using Cells = std::vector<std::string>;

Case replayed() {
  Case of;
  of.parameters = {{"recorded_ms", 20.0}};
  const auto phase = [](const char* name, const char* kind, const std::vector<double>& by_rank) {
    return Json{{"name", name}, {"kind", kind}, {"by_rank_ms", by_rank}};
  };
  of.phases =
      Json::array({phase("gaps", "gap", {4, 1, 2}), phase("transferring", "exchanging", {4, 3, 2}),
                   phase("waiting", "not-ready", {2, 6, 0}),
                   phase("UCX, while computing", "moving", {0, 0, 0})});
  of.pairs = Json::array({{{"src", 0},
                           {"dst", 1},
                           {"waiting_ms", 1.0},
                           {"class", "memory"},
                           {"path", "shm"},
                           {"numa", "0->1"},
                           {"p50_bytes", 8},
                           {"p99_bytes", 1048576},
                           {"calibrated_GBps", 8.0},
                           {"recorded_GBps", 2.0},
                           {"under_way_GBps", 10.0}},
                          {{"src", 2},
                           {"dst", 1},
                           {"waiting_ms", 5.5},
                           {"class", "memory"},
                           {"path", "shm"},
                           {"p50_bytes", 100},
                           {"p99_bytes", 100},
                           {"limit_GBps", 8.0},
                           {"recorded_GBps", nullptr},
                           {"under_way_GBps", 4.0}},
                          {{"src", 1}, {"dst", 0}, {"waiting_ms", 0.0}}});
  return of;
}

TEST(TrafficView, SaysWhoWaitedForWhom) {
  const auto grid = waits_of(replayed());
  ASSERT_EQ(grid.rows.size(), 3U);
  EXPECT_EQ(grid.rows[0], (Cells{"1", "1.00", "3.00", "6.00", "60 %", "2"}));
  EXPECT_EQ(grid.rows[1], (Cells{"0", "4.00", "4.00", "2.00", "20 %", "-"}));
  EXPECT_EQ(grid.rows[2], (Cells{"2", "2.00", "2.00", "0", "0 %", "-"}));
}

TEST(TrafficView, HoldsEachPairAgainstItsPath) {
  const auto grid = traffic_of(replayed());
  ASSERT_EQ(grid.rows.size(), 2U) << "one sent nothing";
  EXPECT_EQ(grid.rows[0], (Cells{"2->1", "memory", "-", "shm", "100 B", "100 B", "8.00",
                                 "cannot tell", "-", "4.00", "50 %"}));
  EXPECT_EQ(grid.rows[1], (Cells{"0->1", "memory", "0->1", "shm", "8 B", "1 MiB", "8.00", "2.00",
                                 "25 %", "10.0", "125 %"}));
}

TEST(TrafficView, HasTheIntervalOfWhatIsReached) {
  auto of = replayed();
  of.pairs[0]["intervals"]["under_way_GBps"] = {{"low", 6.0}, {"high", 12.0}, {"kind", "range"}};
  const auto grid = traffic_of(of);
  EXPECT_EQ(grid.rows[1][9], "10.0 (6.00..12.0, range)");
  EXPECT_EQ(grid.rows[1][10], "125 % (75..150, range)");
}

TEST(TrafficView, IsOfReplaysOnly) {
  auto of = replayed();
  of.parameters.erase("recorded_ms");
  EXPECT_TRUE(waits_of(of).rows.empty());
  EXPECT_TRUE(traffic_of(of).rows.empty());
}

}  // namespace
}  // namespace ucxbench
