#include "harness/analysis/comparison/same_ranks.hpp"

#include <gtest/gtest.h>

namespace ucxbench {
namespace {

std::vector<Json> ranks_on(const std::vector<std::string>& hosts) {
  std::vector<Json> ranks;
  for (const auto& host : hosts) ranks.push_back({{"rank", ranks.size()}, {"host", host}});
  return ranks;
}

/// All on one host; one member of each has these values.
std::vector<Json> ranks_with(const Json::json_pointer& member, const std::vector<Json>& values) {
  auto ranks = ranks_on(std::vector<std::string>(values.size(), "node1"));
  for (std::size_t at = 0; at < values.size(); ++at) ranks[at][member] = values[at];
  return ranks;
}

TEST(SameRanks, AreOnTheSameHostWhateverItsNumber) {
  const auto same = match_ranks(ranks_on({"a", "b", "c"}), ranks_on({"a", "c", "b"}));
  EXPECT_EQ(same.new_of, (std::map<int, int>{{0, 0}, {1, 2}, {2, 1}}));
  EXPECT_EQ(same.in_new({0, 1}), std::pair(0, 2));
  EXPECT_EQ(same.in_base({2, 0}), std::pair(1, 0)) << "directions stay apart";
  EXPECT_TRUE(in_words(same).empty());
}

TEST(SameRanks, AreOnOneHostByGpuDeviceOrProcessors) {
  for (const auto* member : {"/device/uuid", "/device/pci", "/net_devices", "/cpus"}) {
    const Json::json_pointer at(member);
    const auto same = match_ranks(ranks_with(at, {"x", "y"}), ranks_with(at, {"y", "x"}));
    EXPECT_EQ(same.in_new({0, 1}), std::pair(1, 0)) << member;
    EXPECT_TRUE(in_words(same).empty()) << member;
  }
}

TEST(SameRanks, WhosePlacesDifferAreMatchedInOrderAndThatIsSaid) {
  const Json::json_pointer cpus("/cpus");
  const auto moved = match_ranks(ranks_with(cpus, {"0", "1"}), ranks_with(cpus, {"1", "2"}));
  EXPECT_EQ(moved.in_new({0, 1}), std::pair(0, 1));
  ASSERT_EQ(in_words(moved).size(), 1U);
  EXPECT_TRUE(in_words(moved)[0].starts_with("on node1 pairs are matched by the order"));
  // Not bound they have no place that another could have.
  EXPECT_TRUE(in_words(match_ranks(ranks_on({"a", "a"}), ranks_on({"a", "a"}))).empty());
}

TEST(SameRanks, HostsOfOneRunAreNamedAndHaveNoCounterpart) {
  const auto same = match_ranks(ranks_on({"a", "b", "c"}), ranks_on({"a", "c", "d"}));
  EXPECT_FALSE(same.in_new({0, 1}));
  EXPECT_FALSE(same.in_base({0, 2}));
  EXPECT_EQ(same.in_new({0, 2}), std::pair(0, 1));
  EXPECT_EQ(in_words(same), (std::vector<std::string>{
                                "the base run alone has ranks on b: their pairs are not compared",
                                "the new run alone has ranks on d: their pairs are not compared"}));
}

TEST(SameRanks, OfOtherMachinesAndOfUnknownHostsHaveTheSameNumbers) {
  const auto other = match_ranks(ranks_on({"a", "b"}), ranks_on({"c", "d"}));
  EXPECT_EQ(other.in_new({1, 0}), std::pair(1, 0));
  EXPECT_EQ(in_words(other),
            std::vector<std::string>{"pairs are matched by the numbers of their ranks: the runs "
                                     "have no host in common (a, b -> c, d)"});
  const auto unknown = match_ranks({}, ranks_on({"c", "d"}));
  EXPECT_EQ(unknown.in_new({1, 0}), std::pair(1, 0));
  EXPECT_EQ(in_words(unknown).size(), 1U);
}

}  // namespace
}  // namespace ucxbench
