#include "harness/report/ablation_view.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Json entry(const std::string& row, const std::string& better, Json ways) {
  return {{"title", "pingpong tag, host to host"},
          {"row", row},
          {"metric", better == "lower" ? "latency_us" : "bandwidth_GBps"},
          {"about", better == "lower" ? "latency" : "bandwidth"},
          {"unit", better == "lower" ? "us" : "GB/s"},
          {"better", better},
          {"shown", true},
          {"ways", std::move(ways)}};
}

Json way(const std::string& name, double p50, double ratio) {
  return {{"key", name},           {"way", name},    {"p50", p50},
          {"ci95", {p50, p50}},    {"ratio", ratio}, {"ratio_ci95", nullptr},
          {"limit_share", nullptr}};
}

using Cells = std::vector<std::string>;

TEST(AblationView, HasARowForEachWay) {
  auto second = way("tcp by sockets, event", 4, 2);
  second["ratio_ci95"] = {1.9, 2.13};
  second["limit_share"] = 0.43;
  Result result;
  result.ablation = Json::array({entry("8 B", "lower", {way("shm by ucx, poll", 2, 1), second})});
  const auto sections = ablation_sections(result);
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].title, "configurations, pingpong tag, host to host: latency, 8 B");
  const auto& grid = sections[0].grid;
  EXPECT_EQ(grid.columns.back().name, "% of peak");
  EXPECT_EQ(grid.rows[0], (Cells{"shm by ucx, poll", "2.000", "2.00..2.00", "1.00", "-", "-"}));
  EXPECT_EQ(grid.rows[1],
            (Cells{"tcp by sockets, event", "4.000", "4.00..4.00", "2.00", "1.90..2.13", "43 %"}));
}

TEST(AblationView, MarksWhatIsAboveACalibratedLimit) {
  auto only = way("tcp", 4, 1);
  only["limit_share"] = 1.28;
  Result result;
  result.ablation = Json::array({entry("1 MiB", "higher", Json::array({only}))});
  EXPECT_EQ(ablation_sections(result).at(0).grid.rows[0].back(), "128 % (above)");
}

TEST(AblationView, SplitsTheTimeOfAWorkload) {
  auto only = way("tcp", 10, 1);
  only["computing_ms"] = 7.5;
  only["communicating_ms"] = 2.5;
  Result result;
  result.ablation = Json::array({entry("4 ranks", "lower", Json::array({only}))});
  result.ablation[0]["parts"] = Json::array({"computing", "communicating"});
  const auto grid = ablation_sections(result).at(0).grid;
  EXPECT_EQ(grid.columns.back().name, "communicating");
  EXPECT_EQ(grid.rows[0], (Cells{"tcp", "10.00", "10.0..10.0", "1.00", "-", "7.50", "2.50"}));
}

TEST(AblationView, LeavesOutWhatIsNotShown) {
  Result result;
  result.ablation = Json::array({entry("8 B", "lower", Json::array({way("tcp", 1, 1)}))});
  result.ablation[0]["shown"] = false;
  EXPECT_TRUE(ablation_sections(result).empty());
}

}  // namespace
}  // namespace ucxbench
