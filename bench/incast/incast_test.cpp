#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "bench/incast/load.hpp"
#include "bench/incast/report.hpp"

namespace ucxbench::incast {
namespace {

TEST(Shares, AreOfTheSlowestSender) {
  const auto shares = shares_of(std::array{100.0, 400.0, 200.0}, 1000);
  EXPECT_DOUBLE_EQ(shares.GBps, 3 * 1000 / 400.0);
  EXPECT_DOUBLE_EQ(shares.fairness, 0.25);
}

TEST(Shares, OfNoTimeAreNone) { EXPECT_EQ(shares_of(std::array{0.0, 5.0}, 1000).GBps, 0); }

TEST(Runs, ArePutTogetherFromAllRanks) {
  const auto run = run_of({to_json({.in_ns = {1, 2}}), to_json({.out_ns = {3}, .alone_ns = {5}}),
                           to_json({.out_ns = {4}})});
  EXPECT_EQ(run.in_ns, (std::vector<double>{1, 2}));
  EXPECT_EQ(run.out_ns, (std::vector<double>{3, 4}));
  EXPECT_EQ(run.alone_ns, std::vector<double>{5});
  EXPECT_TRUE(run.beside_ns.empty());
}

TEST(Record, LeavesOutWhatIsTooShort) {
  Parameters p;
  p.bytes = 1000;
  const std::vector<incast::Run> runs = {
      {.in_ns = {10'000, 20'000}, .out_ns = {40'000}, .alone_ns = {2000}, .beside_ns = {}},
      {.in_ns = {10'000, 5}, .out_ns = {10'000}, .alone_ns = {4000}, .beside_ns = {8000}}};
  const auto record = record_of(runs, p, 10, 20);
  EXPECT_EQ(record.samples.at("incast_GBps").values, std::vector<double>{1});
  EXPECT_EQ(record.samples.at("fairness_ratio").values, std::vector<double>{0.5});
  EXPECT_EQ(record.samples.at("outcast_GBps").values, (std::vector<double>{0.25, 1}));
  EXPECT_EQ(record.samples.at("round_trip_us").values, (std::vector<double>{2, 4}));
  EXPECT_EQ(record.samples.at("loaded_round_trip_us").values, std::vector<double>{8});
  EXPECT_EQ(record.iterations, 3U);
  // Of the first run alone, since the second one's first sender was too fast for the clock.
  const auto pair = [](int src, int dst, double GBps) {
    return Json{{"src", src}, {"dst", dst}, {"p50_GBps", GBps}};
  };
  EXPECT_EQ(record.workload.at("pairs"), (Json{pair(1, 0, 1), pair(2, 0, 0.5), pair(0, 1, 0.625)}));
}

}  // namespace
}  // namespace ucxbench::incast
