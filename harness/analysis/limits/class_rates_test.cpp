#include "harness/analysis/limits/class_rates.hpp"

#include <gtest/gtest.h>

#include "harness/result/interval.hpp"

namespace ucxbench {
namespace {

TEST(ClassRates, AreOfThesePairsAloneWithTheIntervalOfTheirMedian) {
  Case of;
  of.pairs = Json::array({{{"src", 0}, {"dst", 1}, {"p50_GBps", 10}},
                          {{"src", 1}, {"dst", 0}, {"p50_GBps", 20}},
                          {{"src", 0}, {"dst", 2}, {"p50_GBps", 90}}});
  for (const int launch : {0, 1, 2}) {
    for (const auto& [src, dst, GBps] : {std::tuple{0, 1, 10.0}, {1, 0, 20.0}, {0, 2, 90.0}}) {
      LaunchRecord record{.launch = launch};
      record.src = src;
      record.dst = dst;
      record.samples["bandwidth_GBps"].quantiles.p50 = GBps + launch;
      of.launches.push_back(record);
    }
  }
  Json row;
  put_class_rates(of, {&of.pairs[0], &of.pairs[1]}, row);
  EXPECT_EQ(row.at("min_GBps"), 10);
  EXPECT_EQ(row.at("p50_GBps"), 15);
  const auto interval = interval_at(row, "p50_GBps");
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 15);
  EXPECT_EQ(interval->high, 17);
  EXPECT_EQ(interval->kind, Interval::Kind::range);
  put_class_rates(of, {}, row);
  EXPECT_TRUE(row.at("p50_GBps").is_null() && !interval_at(row, "p50_GBps"));
}

}  // namespace
}  // namespace ucxbench
