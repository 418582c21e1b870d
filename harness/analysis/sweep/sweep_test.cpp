#include "harness/analysis/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// By the ranks of a pair between hosts, GB/s.
using RateOf = std::function<double(int src, int dst)>;

/// A sweep of so many hosts with so many ranks each, in blocks.
Result swept(int hosts, int each, const RateOf& rate, const std::string& concurrent = "disjoint") {
  auto result = made_run();
  auto of = made_case(1 << 20, {"tcp"});
  of.benchmark = "p2p";
  of.parameters["concurrent"] = concurrent;
  of.shows = shows_of_older(of);
  const auto ranks = hosts * each;
  for (int rank = 0; rank < ranks; ++rank) {
    add_rank(result, Json::array());
    result.ranks.back()["host"] = "node" + std::to_string(rank / each);
  }
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst) continue;
      Json pair = {{"src", src}, {"dst", dst}};
      for (const auto& [name, part] :
           {std::pair("p25_GBps", 0.99), {"p50_GBps", 1.0}, {"p75_GBps", 1.01}}) {
        pair[name] = part * (src / each == dst / each ? 50 : rate(src, dst));
      }
      if (src / each != dst / each) pair["class"] = "NET";
      of.pairs.push_back(pair);
      of.launches.push_back(
          made_record(src, dst, "tcp", {"rc_mlx5/mlx5_" + std::to_string(src % each) + ":1"}));
    }
  }
  result.cases = {of};
  add_sweep(result.cases[0], result);
  return result;
}

std::vector<std::string> everything_said(const Result& result) {
  auto all = said(slow_host, result);
  for (const auto& rule : {slow_link, slow_pair, asymmetric_pair}) {
    for (auto& line : said(rule, result)) all.push_back(std::move(line));
  }
  return all;
}

const std::string of_case = "p2p tag, host to host, over tcp, 1 MiB: ";

TEST(Sweep, OfGoodHostsSaysNothing) {
  const auto result = swept(4, 2, [](int, int) { return 10; });
  EXPECT_EQ(everything_said(result), Said());
  const auto& sweep = result.cases[0].sweep;
  EXPECT_EQ(sweep.at("against"), "median");
  ASSERT_EQ(sweep.at("hosts").size(), 4U);
  EXPECT_EQ(sweep.at("hosts")[0],
            Json::parse(R"({"host": "node0", "pairs": 24, "p50_GBps": 10.0, "share": 1.0,
                            "sends": 1.0, "receives": 1.0, "z": 0.0, "slow": null,
                            "ranks": 2})"));
  ASSERT_EQ(sweep.at("rails").size(), 8U);
  EXPECT_EQ(sweep.at("rails")[3].at("rail"), 1);
  EXPECT_EQ(sweep.at("rails")[3].at("devices"), "mlx5_1:1");
  EXPECT_EQ(sweep.at("links"), Json::array());
}

TEST(Sweep, SaysHowManyPairsItIsOf) {
  const auto all = swept(4, 1, [](int, int) { return 10; });
  EXPECT_EQ(all.cases[0].sweep.at("measured_pairs"), 6);
  EXPECT_EQ(all.cases[0].sweep.at("all_pairs"), 6);
  const auto some = swept(4, 1, [](int src, int dst) { return src + dst == 3 ? 0 : 10; });
  EXPECT_EQ(some.cases[0].sweep.at("measured_pairs"), 4);
  EXPECT_EQ(some.cases[0].sweep.at("all_pairs"), 6);
}

TEST(Sweep, NamesASlowHostAndNoPairsOfIt) {
  const auto result =
      swept(5, 2, [](int src, int dst) { return src / 2 == 3 || dst / 2 == 3 ? 4 : 10; });
  EXPECT_EQ(everything_said(result), Said{of_case + "node3 sends and receives at 40 % of the "
                                                    "median of 5 hosts (z -46)"});
  EXPECT_EQ(result.cases[0].sweep.at("hosts")[0].at("host"), "node3");
  EXPECT_NEAR(result.cases[0].sweep.at("hosts")[0].at("share").get<double>(), 0.4, 1e-9);
}

TEST(Sweep, NamesASlowRailByItsDevice) {
  const auto result = swept(4, 2, [](int src, int dst) { return src == 5 || dst == 5 ? 4 : 10; });
  EXPECT_EQ(everything_said(result),
            Said{of_case + "rank 5 on node2 (mlx5_1:1) sends and receives at 40 % of the median "
                           "rank (z -46)"});
  EXPECT_EQ(result.cases[0].sweep.at("rails")[0].at("rank"), 5);
}

TEST(Sweep, NamesASlowLinkOnce) {
  const auto result = swept(4, 1, [](int src, int dst) {
    return src == 1 && dst == 3 ? 3.0 : src == 3 && dst == 1 ? 4.0 : 10.0;
  });
  EXPECT_EQ(everything_said(result),
            Said{of_case + "node1->node3: 3.00 GB/s, 30 % of what both reach with others "
                           "(z -60), back 4.00"});
  const auto one_way = swept(4, 1, [](int src, int dst) { return src == 1 && dst == 3 ? 3 : 10; });
  EXPECT_EQ(everything_said(one_way),
            Said{of_case + "node1->node3: 3.00 GB/s, 30 % of what both reach with others "
                           "(z -60)"});
}

TEST(Sweep, TakesRatesAgainstTheirLimitsWhereAllAreKnown) {
  // The last host has a NIC of half the rate, and reaches it.
  const auto rate = [](int src, int dst) { return src == 3 || dst == 3 ? 5 : 10; };
  auto result = swept(4, 1, rate);
  EXPECT_EQ(everything_said(result).size(), 1U);
  for (auto& pair : result.cases[0].pairs) {
    pair["limit_GBps"] = pair.at("src") == 3 || pair.at("dst") == 3 ? 6.25 : 12.5;
  }
  add_sweep(result.cases[0], result);
  EXPECT_EQ(everything_said(result), Said());
  EXPECT_EQ(result.cases[0].sweep.at("against"), "limit");
  for (const auto& host : result.cases[0].sweep.at("hosts")) {
    EXPECT_NEAR(host.at("share").get<double>(), 0.8, 1e-9);
  }
}

TEST(Sweep, IsOfThreeHostsAndOneAtATime) {
  const auto slow = [](int src, int dst) { return src == 0 && dst == 1 ? 1 : 10; };
  EXPECT_TRUE(swept(2, 2, slow).cases[0].sweep.empty());
  EXPECT_TRUE(swept(1, 4, slow).cases[0].sweep.empty());
  EXPECT_TRUE(swept(4, 1, slow, "all").cases[0].sweep.empty());
  EXPECT_FALSE(swept(4, 1, slow, "one").cases[0].sweep.empty());
  // What only one of two hosts' pairs say is still said of the pair.
  EXPECT_EQ(
      said(slow_pair, swept(2, 3, [](int src, int dst) { return src == 0 && dst == 4 ? 5 : 10; })),
      Said{of_case + "0->4 reaches 5.00 GB/s, the median of NET pairs is 10.0"});
}

}  // namespace
}  // namespace ucxbench
