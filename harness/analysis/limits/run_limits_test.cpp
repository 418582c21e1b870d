#include "harness/analysis/limits/run_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/result/older_runs.hpp"

namespace ucxbench {
namespace {

/// A DGX-1 with a rank on each GPU, and a case of some of its pairs.
struct MeasuredDgx1 {
  Graph graph = import_topology(fixture("dgx1.nccl.xml"));
  Result result;
  Case of;

  MeasuredDgx1() {
    result.machine = {{"hosts", Json::array({{{"name", "dgx"}}})}};
    for (auto& node : graph.nodes) node.host = "dgx";
    for (int rank = 0; rank < 8; ++rank) {
      const auto& pci = graph.nodes[graph.find_name("GPU" + std::to_string(rank))].pci;
      result.ranks.push_back({{"rank", rank}, {"host", "dgx"}, {"device", {{"pci", pci}}}});
    }
    of.parameters = {{"memory", {"cuda", "cuda"}}, {"concurrent", "one"}};
    of.shows = shows_of_older(of);
  }

  void add(int src, int dst, double GBps, const Json& carried_by, const std::string& lane) {
    of.pairs.push_back({{"src", src}, {"dst", dst}, {"p50_GBps", GBps}});
    LaunchRecord record{.src = src, .dst = dst, .lanes = {lane, "cuda_copy/cuda"}};
    record.path = {{"carried_by", carried_by}};
    of.launches.push_back(record);
  }
  void nvlink(int src, int dst, double GBps) {
    add(src, dst, GBps, {{"nvlink", 1.0}}, "cuda_ipc/cuda");
  }

  Json& pair(std::size_t at) { return of.pairs.at(at); }
};

TEST(RunLimits, OfNvlinksAreTheirNumber) {
  MeasuredDgx1 run;
  run.nvlink(0, 1, 21);
  run.nvlink(0, 3, 40);
  run.nvlink(3, 0, 44);
  add_limits(run.of, run.result, run.graph);
  EXPECT_EQ(run.pair(0)["class"], "NV1");
  EXPECT_EQ(run.pair(0)["path"], "nvlink");
  EXPECT_EQ(run.pair(0)["limit_GBps"], 25);
  EXPECT_FALSE(run.pair(0).contains("share_GBps"));
  ASSERT_EQ(run.of.limits.size(), 2U);
  const auto& row = run.of.limits[1];
  EXPECT_EQ(row["class"], "NV2");
  EXPECT_EQ(row["resource"], "NVLinks GPU0 -> GPU3");
  EXPECT_EQ(row["GBps"], 50);
  EXPECT_EQ(row["expected_GBps"], 50);
  EXPECT_EQ(row["complete"], true);
  EXPECT_EQ(row["source"], "specification");
  EXPECT_EQ(row["pairs"], 2);
  EXPECT_EQ(row["min_GBps"], 40);
  EXPECT_EQ(row["p50_GBps"], 42);
}

TEST(RunLimits, FollowThePathThatWasUsed) {
  MeasuredDgx1 run;
  run.add(0, 1, 3, {{"tcp", 1.0}}, "tcp/lo");
  run.add(0, 5, 11, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  run.add(1, 5, 6, {{"ib", 1.0}}, "rc_mlx5/mlx5_2:1");
  run.add(0, 6, 6, {{"ib", 0.5}, {"nvlink", 0.5}}, "rc_mlx5/mlx5_0:1");
  run.add(0, 7, 6, Json::object(), "tcp/lo");
  add_limits(run.of, run.result, run.graph);
  EXPECT_NEAR(run.pair(0)["limit_GBps"].get<double>(), 15.75, 0.01) << "out of and into GPUs";
  EXPECT_EQ(run.of.limits[0]["complete"], false) << "the host memory's speed is not known";
  EXPECT_EQ(run.of.limits[0]["expected_GBps"], 25);
  EXPECT_EQ(run.pair(1)["limit_GBps"], 12.5);
  EXPECT_TRUE(run.pair(2)["limit_GBps"].is_null()) << "not by the nearest adapter";
  EXPECT_EQ(run.pair(2)["path"], "ib");
  EXPECT_TRUE(run.pair(3)["path"].is_null()) << "by two transports";
  EXPECT_TRUE(run.pair(4)["path"].is_null());
}

TEST(RunLimits, OfAllAtOnceHaveFairShares) {
  MeasuredDgx1 run;
  run.of.parameters["concurrent"] = "all";
  run.of.shows = shows_of_older(run.of);
  run.add(0, 5, 6, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  run.add(1, 6, 6, Json::object(), "rc_mlx5/mlx5_0:1");
  run.nvlink(0, 3, 40);
  add_limits(run.of, run.result, run.graph);
  // Both GPUs' switch has one link to the processor.
  EXPECT_EQ(run.pair(0)["share_GBps"], 7.8769);
  EXPECT_EQ(run.pair(1)["share_GBps"], 7.8769);
  EXPECT_EQ(run.pair(2)["share_GBps"], 50);
  EXPECT_EQ(run.of.limits[0]["share_GBps"], 50);

  MeasuredDgx1 partly;
  partly.of.parameters["concurrent"] = "all";
  partly.of.shows = shows_of_older(partly.of);
  partly.nvlink(0, 3, 40);
  partly.nvlink(0, 1, 20);
  partly.result.ranks[1]["host"] = "another";
  add_limits(partly.of, partly.result, partly.graph);
  EXPECT_FALSE(partly.pair(0).contains("share_GBps")) << "what the other takes is not known";
}

TEST(RunLimits, SayNothingOfWhatIsNotKnown) {
  MeasuredDgx1 host;
  host.of.parameters["memory"] = {"host", "host"};
  host.add(0, 1, 5, {{"shm", 1.0}}, "sysv/memory");
  add_limits(host.of, host.result, host.graph);
  EXPECT_TRUE(host.of.limits.empty());
  EXPECT_FALSE(host.pair(0).contains("limit_GBps"));

  MeasuredDgx1 elsewhere;
  elsewhere.nvlink(0, 1, 5);
  elsewhere.nvlink(2, 3, 5);
  elsewhere.result.ranks[1]["host"] = "another";
  elsewhere.result.ranks[3]["device"] = elsewhere.result.ranks[2]["device"];
  add_limits(elsewhere.of, elsewhere.result, elsewhere.graph);
  EXPECT_TRUE(elsewhere.of.limits.empty());
  EXPECT_FALSE(elsewhere.pair(1).contains("limit_GBps")) << "both on one GPU";

  MeasuredDgx1 unseen;
  unseen.nvlink(0, 1, 5);
  add_limits(unseen.of, unseen.result, Graph());
  EXPECT_TRUE(unseen.of.limits.empty());
}

// A run is written after each launch.
TEST(RunLimits, MayBeAddedAgain) {
  MeasuredDgx1 run;
  run.nvlink(0, 1, 21);
  add_limits(run.of, run.result, run.graph);
  const auto pairs = run.of.pairs;
  const auto limits = run.of.limits;
  add_limits(run.of, run.result, run.graph);
  EXPECT_EQ(run.of.pairs, pairs);
  EXPECT_EQ(run.of.limits, limits);
}

Json link(const Case& of, const std::string& from, const std::string& to) {
  for (const auto& entry : of.links) {
    if (entry["from"] == from && entry["to"] == to) return entry;
  }
  return {};
}

TEST(RunLimits, LinksCarryTheFastestPairAlone) {
  MeasuredDgx1 run;
  run.nvlink(0, 1, 21);
  run.nvlink(0, 3, 40);
  run.nvlink(3, 0, 44);
  add_limits(run.of, run.result, run.graph);
  EXPECT_EQ(run.of.links.size(), 3U);
  const auto there = link(run.of, "GPU0", "GPU3");
  EXPECT_EQ(there["class"], "NVLink");
  EXPECT_EQ(there["GBps"], 50);
  EXPECT_EQ(there["used_GBps"], 40);
  EXPECT_EQ(link(run.of, "GPU3", "GPU0")["used_GBps"], 44);
}

TEST(RunLimits, LinksCarryTheSumOfAllAtOnce) {
  MeasuredDgx1 run;
  run.of.parameters["concurrent"] = "all";
  run.of.shows = shows_of_older(run.of);
  // Both leave by the adapter of GPU 0 and 1.
  run.add(0, 5, 4, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  run.add(1, 5, 5, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  add_limits(run.of, run.result, run.graph);
  EXPECT_EQ(link(run.of, "mlx5_0", "network")["used_GBps"], 9);
  EXPECT_EQ(link(run.of, "mlx5_0", "network")["GBps"], 12.5);
  run.add(0, 7, 6, Json::object(), "tcp/lo");
  add_limits(run.of, run.result, run.graph);
  EXPECT_TRUE(run.of.links.empty()) << "nobody knows where the third one goes";
}

TEST(RunLimits, OfAWorkloadAreOfItsWholeExchange) {
  MeasuredDgx1 run;
  run.of.parameters.erase("concurrent");
  run.of.shows = shows_of_older(run.of);
  run.of.exchange = {{"bytes", 3e9}};
  run.of.metrics["exchange_GBps"].quantiles.p50 = 30;
  run.of.pairs = {{{"src", 0}, {"dst", 1}, {"bytes", 1e9}},
                  {{"src", 0}, {"dst", 3}, {"bytes", 2e9}}};
  LaunchRecord record{.lanes = {"cuda_ipc/cuda"}};
  record.path = {{"carried_by", {{"nvlink", 1.0}}}};
  run.of.launches.push_back(record);
  add_limits(run.of, run.result, run.graph);
  // 1 GB by 25 and 2 GB by 50 GB/s: both take 40 ms.
  EXPECT_EQ(run.of.exchange["limit_GBps"], 75);
  EXPECT_EQ(link(run.of, "GPU0", "GPU1")["used_GBps"], 10);
  EXPECT_EQ(link(run.of, "GPU0", "GPU3")["used_GBps"], 20);
  run.of.pairs.push_back({{"src", 2}, {"dst", 2}, {"bytes", 1e9}});
  run.of.exchange.erase("limit_GBps");
  add_limits(run.of, run.result, run.graph);
  EXPECT_FALSE(run.of.exchange.contains("limit_GBps")) << "the way of a pair is not known";
}

/// A run of p2p, one pair at a time and all at once.
struct Calibrated {
  MeasuredDgx1 alone, together;

  Calibrated() {
    alone.of.benchmark = together.of.benchmark = "p2p";
    alone.of.parameters["bytes"] = together.of.parameters["bytes"] = 8 << 20;
    alone.of.shows = shows_of_older(alone.of);
    together.of.parameters["concurrent"] = "all";
    together.of.shows = shows_of_older(together.of);
  }

  Result judged() const {
    auto result = alone.result;
    result.topology = to_json(alone.graph);
    result.cases = {alone.of, together.of};
    add_limits(result);
    return result;
  }
};

Json calibrated_row(const Case& of) {
  for (const auto& row : of.limits) {
    if (row["source"] == "calibrated") return row;
  }
  return {};
}

// What no link carries calibrates none.
TEST(CalibratedLimits, AreNoRatesAboveThePeak) {
  Calibrated run;
  run.alone.nvlink(0, 3, 51);
  run.alone.nvlink(3, 0, 50);
  run.together.nvlink(0, 3, 30);
  run.together.nvlink(3, 0, 33);
  const auto result = run.judged();
  EXPECT_FALSE(result.cases[1].pairs[0].contains("calibrated_GBps"));
  EXPECT_EQ(result.cases[1].pairs[1]["calibrated_GBps"], 50);
}

TEST(CalibratedLimits, OfAllAtOnceAreWhatLinksCarriedAlone) {
  Calibrated run;
  run.alone.nvlink(0, 3, 40);
  run.alone.nvlink(3, 0, 44);
  run.together.nvlink(0, 3, 30);
  run.together.nvlink(3, 0, 33);
  const auto result = run.judged();
  EXPECT_TRUE(calibrated_row(result.cases[0]).is_null()) << "each is its own calibration";
  EXPECT_FALSE(result.cases[0].pairs[0].contains("calibrated_GBps"));
  EXPECT_EQ(result.cases[0].limits[0]["GBps"], 50) << "as promised";

  const auto& all = result.cases[1];
  EXPECT_EQ(all.pairs[0]["calibrated_GBps"], 40);
  EXPECT_EQ(all.pairs[0]["calibrated_share_GBps"], 40);
  EXPECT_EQ(all.pairs[1]["calibrated_GBps"], 44);
  const auto row = calibrated_row(all);
  EXPECT_EQ(row["class"], "NV2");
  EXPECT_EQ(row["GBps"], 42);
  EXPECT_EQ(row["pairs"], 2);
  EXPECT_EQ(row["p50_GBps"], 31.5);
  EXPECT_EQ(row["resource"], "NVLinks GPU0 -> GPU3");
  EXPECT_EQ(row["detail"],
            "p2p of this run, ranks 0 to 3, 8 MiB over nvlink, alone, and others likewise");
  EXPECT_EQ(all.limits[0]["source"], "specification");
  EXPECT_EQ(all.pairs[0]["limit_GBps"], 50);

  const auto graph = graph_from_json(result.topology);
  const auto from = graph.find_name("GPU3");
  const auto to = graph.find_name("GPU0");
  const auto link = std::ranges::find_if(
      graph.links, [&](const Link& of) { return of.from == from && of.to == to; });
  ASSERT_NE(link, graph.links.end());
  EXPECT_EQ(link->calibrated_GBps, 44);
  EXPECT_EQ(link->calibrated_by, "p2p of this run, ranks 3 to 0, 8 MiB over nvlink, alone");
  EXPECT_EQ(result.topology["hash"], hash_of(run.alone.graph));
}

TEST(CalibratedLimits, OfSharedAdaptersAreShared) {
  Calibrated run;
  run.alone.add(0, 5, 11, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  run.alone.add(1, 5, 6, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  run.together.add(0, 5, 7, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  run.together.add(1, 5, 3, {{"ib", 1.0}}, "rc_mlx5/mlx5_0:1");
  const auto result = run.judged();
  EXPECT_EQ(result.cases[1].pairs[0]["calibrated_GBps"], 11);
  EXPECT_EQ(result.cases[1].pairs[1]["calibrated_GBps"], 6) << "by the link of its GPU";
  for (const auto& pair : result.cases[1].pairs) EXPECT_EQ(pair["calibrated_share_GBps"], 5.5);
}

TEST(CalibratedLimits, AreNotOfWhatProcessorsCopy) {
  Calibrated run;
  run.alone.add(0, 1, 3, {{"tcp", 1.0}}, "tcp/lo");
  run.together.add(0, 1, 2, {{"tcp", 1.0}}, "tcp/lo");
  const auto result = run.judged();
  EXPECT_TRUE(calibrated_row(result.cases[1]).is_null());
}

TEST(CalibratedLimits, MayBeAddedAgain) {
  Calibrated run;
  run.alone.nvlink(0, 3, 40);
  run.together.nvlink(0, 3, 30);
  auto result = run.judged();
  const auto topology = result.topology;
  const auto limits = result.cases[1].limits;
  add_limits(result);
  EXPECT_EQ(result.topology, topology);
  EXPECT_EQ(result.cases[1].limits, limits);
  result.topology = {{"devices", Json::array()}};
  add_limits(result);
  EXPECT_TRUE(result.cases[1].limits.empty()) << "of an unknown machine";
}

}  // namespace
}  // namespace ucxbench
