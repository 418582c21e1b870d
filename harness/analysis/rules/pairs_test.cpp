#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/analysis/rules/article_for_test.hpp"
#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

/// Twelve pairs of four ranks at 10 GB/s, but for the first.
Result matrix_of_four(double first_GBps, const std::string& concurrent = "one") {
  auto result = made_run();
  auto of = made_case(1 << 20, {"tcp"});
  of.parameters["concurrent"] = concurrent;
  of.shows = shows_of_older(of);
  for (int src = 0; src < 4; ++src) {
    for (int dst = 0; dst < 4; ++dst) {
      if (src == dst) continue;
      const double rate = of.pairs.empty() ? first_GBps : 10;
      of.pairs.push_back({{"src", src},
                          {"dst", dst},
                          {"p25_GBps", 0.95 * rate},
                          {"p50_GBps", rate},
                          {"p75_GBps", 1.05 * rate}});
    }
  }
  result.cases = {of};
  return result;
}

TEST(SlowPair, IsBelowItsClass) {
  EXPECT_EQ(said(slow_pair, matrix_of_four(5)),
            Said{"pingpong tag, host to host, over tcp, 1 MiB: 0->1 reaches 5.00 GB/s, the median "
                 "of pairs is 10.0"});
  // 1 MiB at 5 GB/s instead of 10.
  EXPECT_NEAR(slow_pair(Judged(matrix_of_four(5)))[0].cost_ms.value_or(0), 0.105, 0.001);
  EXPECT_EQ(said(slow_pair, matrix_of_four(9)), Said());
  EXPECT_EQ(said(slow_pair, matrix_of_four(5, "all")), Said());
  auto in_turns = matrix_of_four(5);
  in_turns.cases[0].labels = {"same-gpu", "time-sliced"};
  EXPECT_EQ(said(slow_pair, in_turns), Said()) << "these are times of turns on one GPU";
  EXPECT_EQ(quality_of(in_turns).level, "poor");
}

TEST(AboveLimit, NoLinkCarriesMoreThanItCan) {
  auto result = matrix_of_four(12);
  auto& of = result.cases[0];
  for (auto& pair : of.pairs) pair["limit_GBps"] = 11.5;
  EXPECT_EQ(said(above_limit, result), Said{"pingpong tag, host to host, over tcp, 1 MiB: 0->1 "
                                            "reaches 12.0 GB/s, the peak of its path is 11.5"});
  of.labels = {"emulated-gpu"};
  EXPECT_EQ(said(above_limit, result), Said()) << "its links are made up";
  of.labels.clear();
  of.pairs[0]["limit_GBps"] = nullptr;
  EXPECT_EQ(said(above_limit, result), Said());
}

/// A stream of 8 B of p2p, as one launch reports it.
Result stream_of(const std::string& metric, double rate, std::uint64_t bytes = 8) {
  auto result = made_run();
  auto of = made_case(bytes, {"tcp"});
  of.benchmark = "p2p";
  of.shows = shows_of_older(of);
  auto record = made_record(0, 1, "tcp", {"tcp/lo"});
  record.samples[metric].quantiles.max = rate;
  of.launches = {record};
  result.cases = {of};
  return result;
}

TEST(AboveLimit, NoRankDoesWhatNoProcessorDoes) {
  // What a clock that had begun too late said of eight messages.
  EXPECT_EQ(said(above_limit, stream_of("bandwidth_GBps", 3.2)),
            Said{"p2p tag, host to host, over tcp, 8 B: bandwidth_GBps of 0->1 is 3.20, above "
                 "1.60: at most 200 M messages/s"});
  EXPECT_EQ(said(above_limit, stream_of("bandwidth_GBps", 1.5)), Said());
  EXPECT_EQ(said(above_limit, stream_of("message_rate_per_s", 201e6)).size(), 1U);
  EXPECT_EQ(said(above_limit, stream_of("message_rate_per_s", 199e6)).size(), 0U);
  EXPECT_EQ(
      said(above_limit, stream_of("bandwidth_GBps", 401, 1 << 20)),
      Said{"p2p tag, host to host, over tcp, 1 MiB: bandwidth_GBps of 0->1 is 401, above 400: "
           "a core stores at most 64 B a cycle"});
  EXPECT_EQ(said(above_limit, stream_of("bandwidth_bidirectional_GBps", 401, 1 << 20)), Said());
  EXPECT_EQ(said(above_limit, stream_of("throughput_GBps", 1e6)), Said())
      << "of a workload's input";
}

TEST(AboveLimit, OfASumIsTheSumOfItsLimits) {
  auto all_pairs = stream_of("together_GBps", 2.9e3, 1 << 20);
  all_pairs.cases[0].pairs = Json::array();
  for (int pair = 0; pair < 6; ++pair) all_pairs.cases[0].pairs.push_back(Json::object());
  EXPECT_EQ(said(above_limit, all_pairs).size(), 1U) << "six pairs of 400 GB/s";
  all_pairs.cases[0].launches[0].samples["together_GBps"].quantiles.max = 2.3e3;
  EXPECT_EQ(said(above_limit, all_pairs), Said());
  auto workload = stream_of("exchange_GBps", 1.3e3, 1 << 20);
  workload.cases[0].benchmark = "merge";
  workload.cases[0].parameters["ranks"] = 3;
  workload.cases[0].shows = shows_of_older(workload.cases[0]);
  EXPECT_EQ(said(above_limit, workload).size(), 1U) << "three ranks that take 400 GB/s each";
  workload.cases[0].launches[0].samples["exchange_GBps"].quantiles.max = 1.1e3;
  EXPECT_EQ(said(above_limit, workload), Said());
}

TEST(AboveLimit, ACaseSaysWhatItsRateAddsUp) {
  auto result = stream_of("later_round_GBps", 1.1e3, 1 << 20);
  auto& of = result.cases[0];
  of.shows.ranks = 3;
  of.shows.metrics = {metric_named("later_round_GBps")};
  EXPECT_EQ(said(above_limit, result).size(), 1U) << "one rank's";
  of.shows.metrics[0].sum_of = SumOf::ranks;
  EXPECT_EQ(said(above_limit, result), Said());
  of.shows.ranks = 2;
  EXPECT_EQ(said(above_limit, result).size(), 1U);
}

TEST(AboveLimit, NoMessageIsQuickerThanWhatCarriesIt) {
  const auto latency = [](double us, std::uint64_t bytes) {
    auto result = stream_of("latency_us", 1e6, bytes);
    result.cases[0].launches[0].samples["latency_us"].quantiles.min = us;
    return said(above_limit, result);
  };
  const std::string of = "p2p tag, host to host, over tcp, ";
  EXPECT_EQ(latency(0.0051, 8), Said());
  EXPECT_EQ(
      latency(0.0049, 8),
      Said{of + "8 B: latency_us of 0->1 is 0.00490, below 0.00500: at most 200 M messages/s"});
  EXPECT_EQ(latency(2.63, 1 << 20), Said());
  EXPECT_EQ(latency(2.62, 1 << 20),
            Said{of + "1 MiB: latency_us of 0->1 is 2.62, below 2.62: a core stores at most 64 B a "
                      "cycle"});
  for (const double us : {0.0, -1.0}) EXPECT_EQ(latency(us, 8).size(), 1U) << us;
}

TEST(AboveLimit, NothingIsBelowZero) {
  auto result = stream_of("bandwidth_GBps", 1);
  auto& least = result.cases[0].launches[0].samples["bandwidth_GBps"].quantiles.min;
  least = 0;
  EXPECT_EQ(said(above_limit, result), Said());
  least = -1;
  EXPECT_EQ(said(above_limit, result),
            Said{"p2p tag, host to host, over tcp, 8 B: bandwidth_GBps of 0->1 is -1.00, which "
                 "cannot be"});
}

TEST(AboveLimit, NoPartOfAWorkloadIsMoreThanItsWhole) {
  const auto with = [](const Json& exchange, double share) {
    auto result = stream_of("wall_ms", 10);
    auto& of = result.cases[0];
    of.benchmark = "merge";
    of.launches[0].workload = {{"exchange", exchange},
                               {"phases", Json::array({{{"name", "build"}, {"share", share}}})}};
    const auto lines = said(above_limit, result);
    return lines.empty() ? "" : lines.front().substr(lines.front().find("launch"));
  };
  EXPECT_EQ(with({{"overlap", 1.0}, {"busy_ms", 5}, {"exposed_ms", 5}}, 1), "");
  EXPECT_EQ(with({{"overlap", nullptr}, {"busy_ms", nullptr}, {"exposed_ms", 5}}, 0), "");
  EXPECT_EQ(with({{"overlap", 4.0}}, 1), "launch 0: 400 % of the exchange is overlapped");
  EXPECT_EQ(with({{"overlap", 0.0}, {"busy_ms", 5}, {"exposed_ms", 6}}, 1), "")
      << "a rank also waits while no message is under way";
  EXPECT_EQ(with(Json::object(), 3), "launch 0: build is 300 % of a run");
}

TEST(AboveLimit, NoRateOfAWorkloadIsMoreThanCoresStore) {
  const auto with = [](const Json& exchange, const Json& pair) {
    auto result = stream_of("wall_ms", 10, 1 << 20);
    auto& of = result.cases[0];
    of.benchmark = "merge";
    of.parameters["ranks"] = 2;
    of.shows = shows_of_older(of);
    of.launches[0].workload = {{"exchange", exchange}, {"pairs", Json::array({pair})}};
    const auto lines = said(above_limit, result);
    return lines.empty() ? "" : lines.front().substr(lines.front().find(": ") + 2);
  };
  const Json pair = {{"src", 1}, {"dst", 0}, {"p50_GBps", 399}, {"goodput_GBps", 399}};
  EXPECT_EQ(with({{"alone_GBps", 799}}, pair), "");
  EXPECT_EQ(with({{"alone_GBps", 801}}, pair),
            "alone_GBps is 801, above 800: a core stores at most 64 B a cycle");
  for (const auto* rate : {"p50_GBps", "goodput_GBps"}) {
    auto fast = pair;
    fast[rate] = 401;
    EXPECT_EQ(with({{"alone_GBps", nullptr}}, fast),
              std::string(rate) + " of 1->0 is 401, above 400: a core stores at most 64 B a cycle");
  }
}

TEST(NoBytes, IsWhereALaunchOrAPairMovedNothing) {
  auto run = stream_of("bandwidth_GBps", 3, 1 << 20);
  auto& of = run.cases[0];
  of.metrics["bandwidth_GBps"].better = "higher";
  EXPECT_EQ(said(no_bytes, run), Said());
  of.launches[0].samples["bandwidth_GBps"].quantiles.p50 = 0;
  EXPECT_EQ(said(no_bytes, run), Said{"p2p tag, host to host, over tcp, 1 MiB: 0->1 moved nothing "
                                      "in 1 of 1 launch"});
  auto matrix = matrix_of_four(5);
  matrix.cases[0].shows.ranks = 4;
  EXPECT_EQ(said(no_bytes, matrix), Said());
  matrix.cases[0].pairs.erase(matrix.cases[0].pairs.begin() + 1);
  EXPECT_EQ(said(no_bytes, matrix), Said{"pingpong tag, host to host, over tcp, 1 MiB: no figure "
                                         "of 0->2 (1 of 12 pairs)"});
}

TEST(AboveLimit, NoAdapterCarriesMoreThanItsCable) {
  auto result = dgx1_of_the_article();
  auto& of = result.cases.at(0);
  of.parameters["memory"] = {"host", "host"};
  of.launches.resize(1);
  auto& most = of.launches[0].samples["bandwidth_GBps"].quantiles.max;
  most = 12.6;
  EXPECT_EQ(said(above_limit, result), Said()) << "a matrix has no cables";
  auto graph = graph_from_json(result.topology);
  Node network;
  network.kind = NodeKind::network;
  network.name = "network";
  Link cable;
  const auto adapter = std::ranges::find(graph.nodes, "ib0", &Node::name);
  ASSERT_NE(adapter, graph.nodes.end());
  cable.from = static_cast<std::size_t>(adapter - graph.nodes.begin());
  cable.to = graph.add(std::move(network));
  cable.link_class = LinkClass::network;
  cable.specified_GBps = 12.5;
  graph.links.push_back(cable);
  result.topology = to_json(graph);
  EXPECT_EQ(said(above_limit, result).size(), 1U);
  most = 12.4;
  EXPECT_EQ(said(above_limit, result), Said());
}

TEST(AsymmetricPair, IsWhereTheStreamsDoNotOverlap) {
  EXPECT_EQ(said(asymmetric_pair, matrix_of_four(5)),
            Said{"pingpong tag, host to host, over tcp, 1 MiB: 0->1 reaches 5.00 GB/s, 1->0 10.0"});
  EXPECT_EQ(said(asymmetric_pair, matrix_of_four(9)), Said());
  auto result = matrix_of_four(5);
  result.cases[0].pairs[0]["p75_GBps"] = 9;
  EXPECT_EQ(said(asymmetric_pair, result), Said());
}

}  // namespace
}  // namespace ucxbench
