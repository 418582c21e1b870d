#include "harness/comm/transfer_log.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

Transfer between(std::uint64_t from, std::uint64_t to) {
  Transfer transfer;
  transfer.posted_ns = from;
  transfer.completed_ns = to;
  return transfer;
}

TEST(UnionOf, CountsTimeThatSeveralCoverOnce) {
  EXPECT_TRUE(union_of({}).empty());
  // Some lie in each other's gaps, in no order; one has not ended.
  const auto all = union_of({{45, 50}, {10, 20}, {15, 30}, {12, 14}, {40, 45}, {60, 0}});
  ASSERT_EQ(all.size(), 2U) << "those that touch are one";
  EXPECT_EQ(all[0].begin_ns, 10U);
  EXPECT_EQ(all[0].end_ns, 30U);
  EXPECT_EQ(all[1].begin_ns, 40U);
  EXPECT_EQ(sum_ns(all), 30U);
}

TEST(TransferLog, CountsWhatItHasNoRoomFor) {
  TransferLog log(2);
  const auto first = log.post(between(1, 0));
  log.post(between(2, 0));
  const auto dropped = log.post(between(3, 0));
  EXPECT_EQ(dropped, TransferLog::none);
  log.complete(dropped, 9, false);
  log.complete(first, 5, true);
  ASSERT_EQ(log.records().size(), 2U);
  EXPECT_EQ(log.records()[0].completed_ns, 5U);
  EXPECT_EQ(log.records()[0].at_once, 1U);
  EXPECT_EQ(log.records()[1].completed_ns, 0U);
  EXPECT_EQ(log.dropped(), 1U);
  log.clear();
  EXPECT_EQ(log.dropped(), 0U);
  EXPECT_TRUE(log.records().empty());
}

}  // namespace
}  // namespace ucxbench
