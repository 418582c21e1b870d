#include "harness/report/matrix_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/report/sections.hpp"
#include "harness/result/older_runs.hpp"

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
  of.metrics["message_rate_per_s"].quantiles.p50 = 20e3;
  of.shows = shows_of_older(of);
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

// What stands beside the interval is what that is of: not the median over pairs, each of all
// launches.
TEST(Matrix, TheMedianRateIsThatOfTheInterval) {
  auto of = matrix(3, "one");
  of.metrics["bandwidth_GBps"].quantiles.p50 = 7;
  of.metrics["bandwidth_GBps"].ci95 = {6.9, 7.1};
  const auto grid = matrix_rates_of({.title = "", .cases = {&of}, .measured = {&of}});
  ASSERT_EQ(grid.rows.size(), 1U);
  const auto cell_of = [&](const std::string& group, const std::string& name) {
    for (std::size_t at = 0; at < grid.columns.size(); ++at) {
      const auto& column = grid.columns[at];
      if (column.group == group && column.name == name) return grid.rows[0].at(at);
    }
    return std::string("no such column");
  };
  EXPECT_EQ(cell_of("GB/s received per pair", "min"), "5.000");
  EXPECT_EQ(cell_of("GB/s received per pair", "p50"), "7.000");
  EXPECT_EQ(cell_of("p50 over launches", "95% CI"), "6.900..7.100");
  EXPECT_EQ(cell_of("msg/s", "p50"), "6.68k");
}

Json ci95_from(double low, double high) {
  return {{"p50_GBps", {{"low", low}, {"high", high}, {"kind", "ci95"}}}};
}

TEST(Matrix, SaysHowWideIntervalsAreAndMarksWhatIsNotSure) {
  auto of = matrix(3, "one");
  EXPECT_EQ(widest_interval(of), "");
  for (auto& pair : of.pairs) pair["intervals"] = ci95_from(4.9, 5.2);
  of.pairs[2]["intervals"] = ci95_from(4, 9);  // 1->0; four fifths of the median are 8.4
  const auto grid = matrix_of(of);
  EXPECT_EQ(grid.rows[1], (std::vector<std::string>{"1", "5.00?", "-", "5.00!"}));
  EXPECT_EQ(widest_interval(of), ", 95% CI at most 100 % wide");
}

TEST(Asymmetry, IsOnlyOfWhatLaunchesTellApart) {
  auto of = matrix(2, "one");
  of.pairs[0]["intervals"] = ci95_from(10, 12);
  of.pairs[1]["intervals"] = ci95_from(4, 6);
  EXPECT_EQ(asymmetry_of(of),
            "at most 55 % apart: 1->0 5.00 (4.00..6.00), 0->1 11.0 (10.0..12.0) GB/s (1 MiB, one "
            "pair at a time)");
  of.pairs[1]["intervals"] = ci95_from(4, 11);
  EXPECT_EQ(asymmetry_of(of), "");
}

TEST(Slowest, AreTen) {
  EXPECT_TRUE(slowest_of(matrix(3, "one")).rows.empty());
  const auto grid = slowest_of(matrix(6, "one"));
  ASSERT_EQ(grid.rows.size(), 10U);
  EXPECT_EQ(grid.rows.front().front(), "1->0");
  EXPECT_EQ(grid.rows[5].front(), "2->0");
}

// No pair is slower than one that moves nothing.
TEST(Slowest, AreThoseWithoutARateThenThoseOfZero) {
  auto of = matrix(6, "one");
  for (const auto* field : {"p25_GBps", "p50_GBps", "p75_GBps"}) of.pairs[3][field] = 0;
  of.pairs.erase(of.pairs.begin() + 7);
  const auto grid = slowest_of(of);
  using Row = std::vector<std::string>;
  EXPECT_EQ(grid.rows.at(0), (Row{"1->3", "-", "-", "-", "-"}));
  EXPECT_EQ(grid.rows.at(1), (Row{"0->4", "0", "0", "0", "0 %"}));
  EXPECT_EQ(grid.rows.at(2).front(), "1->0");
  EXPECT_EQ(matrix_of(of).rows.at(0).at(5), "0!");
  EXPECT_EQ(matrix_of(of).rows.at(1).at(4), "-");
  const auto block = matrix_rates_of({.title = "", .cases = {&of}, .measured = {&of}});
  const auto least = std::ranges::find(block.columns, "min", &Grid::Column::name);
  ASSERT_NE(least, block.columns.end());
  EXPECT_EQ(block.rows.at(0).at(static_cast<std::size_t>(least - block.columns.begin())), "0");
}

TEST(Asymmetry, IsTheWorstPairs) {
  EXPECT_EQ(asymmetry_of(matrix(3, "one")),
            "at most 55 % apart: 1->0 5.00, 0->1 11.0 GB/s (1 MiB, one pair at a time)");
}

Case with_limits() {
  auto of = matrix(3, "one");
  for (auto& pair : of.pairs) pair["limit_GBps"] = 11.5;
  of.limits.push_back({{"class", "NV1"},
                       {"path", "tcp"},
                       {"GBps", 20},
                       {"complete", false},
                       {"detail", "PCIe gen3 x16"},
                       {"expected_GBps", 25},
                       {"pairs", 6},
                       {"min_GBps", 5},
                       {"p50_GBps", 10}});
  return of;
}

TEST(AgainstLimits, SaysWhatPartIsReached) {
  EXPECT_TRUE(against_limits(matrix(3, "one")).rows.empty());
  auto of = with_limits();
  EXPECT_EQ(against_limits(of).rows.front(),
            (std::vector<std::string>{"NV1", "tcp", "6", "5.00", "10.0", "<= 20.00", "25.00",
                                      "50 %", "40 %", "PCIe gen3 x16"}));
  for (const auto* unknown : {"GBps", "path", "detail"}) of.limits.front()[unknown] = nullptr;
  EXPECT_EQ(
      against_limits(of).rows.front(),
      (std::vector<std::string>{"NV1", "?", "6", "5.00", "10.0", "?", "25.00", "?", "40 %", "?"}));
}

TEST(AgainstLimits, HaveIntervals) {
  auto of = with_limits();
  of.limits.front()["intervals"] = ci95_from(9, 12);
  const auto row = against_limits(of).rows.front();
  EXPECT_EQ(row[4], "10.0 (9.00..12.0)");
  EXPECT_EQ(row[7], "50 % (45..60)");
  EXPECT_EQ(row[8], "40 % (36..48)");
}

TEST(AgainstLimits, OfAllAtOnceShowFairShares) {
  auto of = with_limits();
  of.limits.front()["share_GBps"] = 5;
  const auto grid = against_limits(of);
  EXPECT_EQ(grid.columns[7].name, "fair share");
  EXPECT_EQ(grid.rows.front()[7], "5.000");
  EXPECT_EQ(grid.rows.front()[10], "200 %") << "is no bound";
}

TEST(AgainstLimits, OfCalibrationSayWhoseTheyAreAndThatMoreIsReached) {
  auto of = matrix(3, "one");
  of.limits.push_back({{"class", "memory"},
                       {"path", "shm"},
                       {"GBps", 8},
                       {"complete", true},
                       {"source", "calibrated"},
                       {"detail", "memcpy"},
                       {"expected_GBps", nullptr},
                       {"share_GBps", nullptr},
                       {"pairs", 6},
                       {"min_GBps", 5},
                       {"p50_GBps", 10}});
  const auto grid = against_limits(of);
  EXPECT_EQ(grid.rows.front(),
            (std::vector<std::string>{"memory", "shm", "6", "5.00", "10.0", "8.000",
                                      "125 % (above)", "calibrated: memcpy"}));
  of.limits.front()["p50_GBps"] = 6;
  EXPECT_EQ(against_limits(of).rows.front()[6], "75 %");
  of.limits.front()["GBps"] = nullptr;
  EXPECT_EQ(against_limits(of).rows.front()[6], "?");
}

TEST(AgainstLimits, AreInTheReport) {
  Result result;
  result.cases = {with_limits()};
  const auto sections = sections_of(blocks_of(result).front());
  EXPECT_EQ(sections.back().title, "vs. peak of the path, 1 MiB, one pair at a time");
}

TEST(Sections, OfAMatrixAreOneTableAndAMatrixEach) {
  Result result;
  result.cases = {matrix(3, "one"), matrix(3, "all"), matrix(3, "all")};
  result.cases[0].metrics["bandwidth_GBps"].quantiles.p50 = 10.5;
  result.cases[1].metrics["together_GBps"].quantiles.p50 = 50;
  const auto blocks = blocks_of(result);
  ASSERT_EQ(blocks.size(), 1U);
  const auto sections = sections_of(blocks.front());
  ASSERT_EQ(sections.size(), 4U);
  ASSERT_EQ(sections[0].grid.rows.size(), 3U);
  EXPECT_EQ(sections[0].grid.rows[0].back(), "-");
  EXPECT_EQ(sections[0].grid.rows[0][7], "10.0k") << "10.5 GB/s in messages of 1 MiB";
  EXPECT_EQ(sections[0].grid.rows[1].back(), "50.00");
  EXPECT_EQ(sections[0].grid.rows[2].back(), "-") << "rates of streams that did not overlap";
  EXPECT_EQ(sections[2].title, "GB/s, 1 MiB, all pairs at once, from (row) to (column)");
}

}  // namespace
}  // namespace ucxbench
