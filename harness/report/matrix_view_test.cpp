#include "harness/report/matrix_view.hpp"

#include <gtest/gtest.h>

#include "harness/report/sections.hpp"

namespace ucxbench {
namespace {

Case matrix(int ranks, const char* concurrent) {
  Case of;
  of.benchmark = "p2p";
  of.key = "p2p/tag/host-host/shm/1MiB/concurrent=one/ranks=2";
  of.state = CaseState::measured;
  of.parameters = {{"bytes", 1 << 20},
                   {"concurrent", concurrent},
                   {"transports", {"shm"}},
                   {"memory", {"host", "host"}},
                   {"ranks", ranks}};
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst) continue;
      // Rank 1 sends at half speed.
      const double rate = src == 1 ? 5 : 10 + dst;
      of.pairs.push_back(
          {{"src", src}, {"dst", dst}, {"p25_GBps", rate}, {"p50_GBps", rate}, {"p75_GBps", rate}});
    }
  }
  of.metrics["bandwidth_GBps"] = {};
  return of;
}

TEST(Matrix, HasASenderInEachRowAndMarksTheSlow) {
  const auto grid = matrix_of(matrix(3, "one"));
  ASSERT_EQ(grid.columns.size(), 4U);
  EXPECT_EQ(grid.rows, (std::vector<std::vector<std::string>>{{"0", "-", "11.0", "12.0"},
                                                              {"1", "5.00!", "-", "5.00!"},
                                                              {"2", "10.0", "11.0", "-"}}));
  EXPECT_TRUE(matrix_of(matrix(17, "one")).rows.empty());
}

TEST(Slowest, AreTen) {
  EXPECT_TRUE(slowest_of(matrix(3, "one")).rows.empty());
  const auto grid = slowest_of(matrix(6, "one"));
  ASSERT_EQ(grid.rows.size(), 10U);
  EXPECT_EQ(grid.rows.front().front(), "1->0");
  EXPECT_EQ(grid.rows[5].front(), "2->0");
}

TEST(Asymmetry, IsTheWorstPairs) {
  EXPECT_EQ(asymmetry_of(matrix(3, "one")),
            "at most 55 % apart: 1->0 5.00, 0->1 11.0 GB/s (1 MiB, one pair at a time)");
}

TEST(Sections, OfAMatrixAreOneTableAndAMatrixEach) {
  Result result;
  result.cases = {matrix(3, "one"), matrix(3, "all")};
  const auto blocks = blocks_of(result);
  ASSERT_EQ(blocks.size(), 1U);
  const auto sections = sections_of(blocks.front());
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[0].grid.rows.size(), 2U);
  EXPECT_EQ(sections[0].grid.rows[0].back(), "-");
  EXPECT_EQ(sections[0].grid.rows[1].back(), "54.00");
  EXPECT_EQ(sections[2].title, "GB/s, 1 MiB, all pairs at a time, from (row) to (column)");
}

}  // namespace
}  // namespace ucxbench
