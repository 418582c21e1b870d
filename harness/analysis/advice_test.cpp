#include "harness/analysis/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/analysis/rules/article_for_test.hpp"
#include "harness/core/every_for_test.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"

namespace ucxbench {
namespace {

std::string nic_of_rank(const Advice& advice, std::size_t rank) {
  const auto& nic = advice.ranks.at(rank).nic;
  return nic ? advice.graph.nodes[*nic].name : "";
}

std::set<std::string> rules_seen(const Result& result) {
  std::set<std::string> ids;
  for (const auto& finding : findings_of(result)) ids.insert(finding.at("id").get<std::string>());
  return ids;
}

TEST(Remedies, AreOfRulesThatExist) {
  for (const auto& [rule, lever] : remedies()) {
    EXPECT_EQ(std::ranges::count(rules(), rule, &Rule::id), 1) << rule;
  }
}

TEST(AdviceForTheArticle, GivesFourGpusTheirOwnNic) {
  const auto advice = advise(dgx1_of_the_article(), std::nullopt);
  ASSERT_EQ(advice.ranks.size(), 8U);
  const std::vector<std::string> nics = {"ib0", "ib0", "ib2", "ib2", "ib1", "ib1", "ib3", "ib3"};
  for (std::size_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(nic_of_rank(advice, rank), nics[rank]);
    EXPECT_EQ(advice.ranks[rank].net_devices, nics[rank] + ":1");
  }
  const auto far = std::ranges::count(advice.settings, "far-nic", &AdvisedSetting::rule);
  EXPECT_EQ(far, 4);
  const auto first = std::ranges::find(advice.settings, "far-nic", &AdvisedSetting::rule);
  EXPECT_EQ(first->subject, "rank 2 (GPU2)");
  EXPECT_EQ(first->setting, "UCX_NET_DEVICES=ib2:1");
}

TEST(AdviceForTheArticle, HasTheLostCoresBack) {
  const auto advice = advise(dgx1_of_the_article(), std::nullopt);
  EXPECT_EQ(format_list(advice.ranks[0].cpus), "0-4,40-44");
  EXPECT_EQ(format_list(advice.ranks[7].cpus), "35-39,75-79");
  std::set<int> all;
  for (const auto& rank : advice.ranks) all.insert(rank.cpus.begin(), rank.cpus.end());
  EXPECT_EQ(format_list({all.begin(), all.end()}), "0-79");
}

// The run as it would be with the advice.
TEST(AdviceForTheArticle, EndsTheFindings) {
  auto result = dgx1_of_the_article();
  for (const auto* rule : {"far-nic", "lost-cpus", "not-pinned"}) {
    EXPECT_TRUE(rules_seen(result).contains(rule)) << rule;
  }
  const auto advice = advise(result, std::nullopt);
  for (const auto& rank : advice.ranks) {
    auto& record = result.ranks[static_cast<std::size_t>(rank.rank)];
    record["cpus"] = rank.cpus;
    record["net_devices"] = rank.net_devices;
  }
  for (auto& launch : result.cases[0].launches) {
    launch.lanes = {"rc_mlx5/" + advice.ranks[static_cast<std::size_t>(launch.src)].net_devices};
  }
  for (const auto* rule : {"far-nic", "lost-cpus", "far-cpus", "not-pinned", "shared-cpus"}) {
    EXPECT_FALSE(rules_seen(result).contains(rule)) << rule;
  }
}

TEST(Advice, KeepsDevicesOfTcp) {
  auto result = dgx1_of_the_article();
  result.ranks[2]["net_devices"] = "lo,ib1:1";
  EXPECT_EQ(advise(result, std::nullopt).ranks[2].net_devices, "lo,ib2:1");
}

TEST(Advice, LeavesNetworkDevicesOfARunWithoutInfinibandAlone) {
  auto result = dgx1_of_the_article();
  result.cases[0].parameters["transports"] = {"tcp", "nvlink"};
  for (auto& rank : result.ranks) rank["net_devices"] = "lo";
  const auto advice = advise(result, std::nullopt);
  EXPECT_FALSE(advice.infiniband);
  EXPECT_TRUE(advice.nvlink);
  EXPECT_EQ(advice.ranks[2].net_devices, "lo");
}

TEST(Advice, WithoutTcpWhereTcpTookItsPlace) {
  auto result = dgx1_of_the_article();
  result.cases[0].path = {{"verdict", "other"}, {"carried_by", {{"tcp", 1.0}}}};
  result.cases[0].metrics["latency_us"].quantiles.p50 = 1;
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.ucx.at("UCX_TLS"), "self,sm,cuda_copy,cuda_ipc,rc");
  const auto seen = std::ranges::find(advice.settings, "wrong-transport", &AdvisedSetting::rule);
  ASSERT_NE(seen, advice.settings.end());
  EXPECT_EQ(seen->setting, "UCX_TLS=self,sm,cuda_copy,cuda_ipc,rc");
}

TEST(Advice, HasNoTransportsForStreams) {
  auto result = dgx1_of_the_article();
  auto& of = result.cases[0];
  of.parameters["api"] = "stream";
  of.parameters["transports"] = {"tcp", "nvlink"};
  of.launches = {made_record(0, 1, "tcp", {"tcp/lo"})};
  of.metrics["latency_us"].quantiles.p50 = 1;
  const auto advice = advise(result, std::nullopt);
  const auto seen = std::ranges::find(advice.settings, "nvlink-unused", &AdvisedSetting::rule);
  ASSERT_NE(seen, advice.settings.end());
  EXPECT_EQ(seen->setting, "");
  EXPECT_EQ(seen->next, "use --api tag");
  EXPECT_FALSE(advice.ucx.contains("UCX_TLS"));
}

Case latency_case(std::uint64_t bytes, double us, const std::string& protocol) {
  auto of = made_case(bytes, {"tcp"});
  of.metrics["latency_us"].quantiles.p50 = us;
  of.path["protocols"] = Json::array({{{"use", "latency"}, {"protocol", protocol}}});
  return of;
}

TEST(Advice, PlacesTheRendezvousThreshold) {
  auto result = dgx1_of_the_article();
  result.cases = {latency_case(1024, 5, "eager"), latency_case(4096, 90, "eager"),
                  latency_case(8192, 100, "eager"), latency_case(16384, 20, "rendezvous")};
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.ucx.at("UCX_RNDV_THRESH"), "4096");
  EXPECT_EQ(std::ranges::count(advice.settings, "UCX_RNDV_THRESH=4096", &AdvisedSetting::setting),
            1);
}

TEST(Advice, HasAPoolOfTheSmallestGpu) {
  auto result = dgx1_of_the_article();
  EXPECT_FALSE(advise(result, std::nullopt).pool_bytes);
  for (auto& rank : result.ranks) rank["device"]["memory_bytes"] = 32ULL << 30U;
  result.ranks[3]["device"]["memory_bytes"] = 16ULL << 30U;
  EXPECT_EQ(advise(result, std::nullopt).pool_bytes, 12ULL << 30U);
}

TEST(Advice, TellsBandwidthsOfClassesApart) {
  auto result = dgx1_of_the_article();
  auto of = made_case(4 << 20, {"tcp", "nvlink"}, "cuda");
  const auto add = [&](int src, int dst, double GBps) {
    of.pairs.push_back({{"src", src}, {"dst", dst}, {"p50_GBps", GBps}});
  };
  add(0, 3, 42);
  add(3, 0, 44);
  add(0, 1, 21);
  add(0, 5, 9);
  of.pairs.push_back({{"src", 0}, {"dst", 6}, {"p50_GBps", nullptr}});
  result.cases = {of};
  const auto advice = advise(result, std::nullopt);
  ASSERT_EQ(advice.classes.size(), 3U);
  EXPECT_EQ(advice.classes[1].path_class, "NV2");
  EXPECT_EQ(advice.classes[1].pairs, 2U);
  EXPECT_EQ(advice.classes[1].p50_GBps, 43);
  EXPECT_EQ(bandwidth_of_all_GBps(advice), 21);
  const auto rows = bandwidths_of(result, advice).at("bandwidths");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].at("src_device"), "GPU0");
  EXPECT_EQ(rows[0].at("class"), "NV2");
  EXPECT_EQ(rows[0].at("memory"), Json({"cuda", "cuda"}));
  EXPECT_EQ(rows[0].at("bytes"), 4 << 20);
}

// Virtual machines' adapters have no driver, and nvidia-smi has numbers of its own.
TEST(Advice, NamesDevicesThatThereAre) {
  const auto devices = [](const std::string& name, const std::string& alias) {
    Graph graph;
    for (const auto kind : {NodeKind::host, NodeKind::gpu, NodeKind::nic}) {
      Node node;
      node.kind = kind;
      node.name = kind == NodeKind::nic ? name : kind == NodeKind::gpu ? "GPU0" : "host";
      if (kind == NodeKind::nic) node.alias = alias;
      graph.add(std::move(node));
    }
    graph.stated[{1, 2}] = {Distance::pix, 0};
    return advise(graph).ranks.at(0).net_devices;
  };
  EXPECT_EQ(devices("mlx5_0", "eth0"), "mlx5_0:1");
  EXPECT_EQ(devices("NIC0", "mlx5_0"), "mlx5_0:1");
  for (const char* name : {"NIC 0000:00:03.0", "NIC0", "eth0", "enp1s0", "adapter 3"}) {
    EXPECT_EQ(devices(name, ""), "") << name;
  }
}

TEST(Advice, OfATopologyAloneIsForEachOfItsGpus) {
  const auto advice = advise(import_topology(fixture("gpu-node.hwloc.xml")));
  ASSERT_EQ(advice.ranks.size(), 4U);
  EXPECT_EQ(nic_of_rank(advice, 1), "mlx5_0");
  EXPECT_EQ(nic_of_rank(advice, 3), "mlx5_1");
  EXPECT_EQ(format_list(advice.ranks[2].cpus), "4-5,12-13");
  EXPECT_TRUE(advice.settings.empty());
  EXPECT_FALSE(advice.nvlink);
}

TEST(Advice, OfATopologyWithoutGpusIsForEachNumaNode) {
  const auto advice = advise(import_topology(fixture("two-socket.hwloc.xml")));
  ASSERT_EQ(advice.ranks.size(), 2U);
  EXPECT_EQ(nic_of_rank(advice, 1), "mlx5_2");
  EXPECT_EQ(format_list(advice.ranks[1].cpus), "4-7,12-15");
}

TEST(Advice, NeedsATopologyThatIsTheRuns) {
  auto result = dgx1_of_the_article();
  const auto other = import_topology(fixture("gpu-node.hwloc.xml"));  // of four GPUs
  EXPECT_THROW(advise(result, other), Failure);
  result.topology = Json::object();
  EXPECT_THROW(advise(result, std::nullopt), Failure);
  EXPECT_NO_THROW(advise(result, import_topology(fixture("dgx1.txt"))));
}

// Each value of the file once as something else: it is advice, or refused in a line.
TEST(Advice, SurvivesDamagedFiles) {
  auto result = dgx1_of_the_article();
  result.cases[0].pairs = {{{"src", 0}, {"dst", 1}, {"p50_GBps", 9.5}}};
  const auto whole = to_json(result);
  const auto values = whole.flatten();
  // In turn: all of them everywhere take sanitizers minutes.
  const std::vector<Json> others = {Json(), Json(-1), Json("x"), Json::array(), Json::object()};
  std::size_t next = 0;
  std::size_t value_number = 0;
  for (const auto& [pointer, value] : values.items()) {
    if (pointer.starts_with("/topology/")) continue;  // which the importers' test damages
    if (++value_number % every_trial != 0) continue;
    auto damaged = whole;
    damaged[Json::json_pointer(pointer)] = others[next++ % others.size()];
    try {
      const auto run = parse_result(to_text(damaged), "damaged");
      bandwidths_of(run, advise(run, std::nullopt));
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit(), Exit::usage) << pointer;
    } catch (const std::exception& error) {
      ADD_FAILURE() << pointer << ": " << error.what();
    }
  }
}

TEST(Advice, LeavesRanksOfOtherHostsOut) {
  auto result = dgx1_of_the_article();
  for (int rank = 4; rank < 8; ++rank) result.ranks[rank]["host"] = "node08";
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.ranks.size(), 4U);
  EXPECT_EQ(advice.elsewhere, 4U);
}

}  // namespace
}  // namespace ucxbench
