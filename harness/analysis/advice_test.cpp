#include "harness/analysis/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/analysis/rules/article_for_test.hpp"
#include "harness/core/every_for_test.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/units.hpp"
#include "harness/result/words.hpp"

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

Result on_one_host() {
  auto result = dgx1_of_the_article();
  result.machine["labels"] = Json::array({"vm"});
  return result;
}

/// The article's machine, whose ranks send to those of another like it.
Result on_two_hosts() {
  auto result = on_one_host();
  for (int gpu = 0; gpu < 8; ++gpu) {
    add_rank(result, "0-39", gpu);
    result.ranks.back()["host"] = "node08";
  }
  for (auto& record : result.cases[0].launches) record.dst = 8 + record.src;
  return result;
}

Metric figure(double p50, double spread, const std::string& better = "lower") {
  return {.quantiles = {.p50 = p50},
          .ci95 = std::array{p50 * (1 - spread), p50 * (1 + spread)},
          .better = better};
}

/// Of messages within each host and between the two.
Case of_all_pairs(const std::vector<std::string>& transports, double us) {
  auto of = made_case(1 << 20, transports, "host");
  of.key = "p2p/" + join(transports, "+");
  of.metrics["latency_us"] = figure(us, 0.05);
  of.pairs = {{{"src", 0}, {"dst", 1}, {"p50_GBps", 9}}, {{"src", 0}, {"dst", 8}, {"p50_GBps", 1}}};
  return of;
}

WhyNot why_not(const Advice& advice, Lever lever) {
  const auto* decision = advice.of(lever);
  EXPECT_NE(decision, nullptr) << name_of(levers, lever);
  return decision == nullptr ? WhyNot::nothing : decision->why_not;
}

TEST(Remedies, AreOfRulesThatExist) {
  for (const auto& [rule, lever] : remedies()) {
    EXPECT_EQ(std::ranges::count(rules(), rule, &Rule::id), 1) << rule;
  }
}

TEST(AdviceForTheArticle, GivesFourGpusTheirOwnNic) {
  const auto advice = advise(on_two_hosts(), std::nullopt);
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
  const auto advice = advise(on_two_hosts(), std::nullopt);
  EXPECT_EQ(format_list(advice.ranks[0].cpus), "0-4,40-44");
  EXPECT_EQ(format_list(advice.ranks[7].cpus), "35-39,75-79");
  std::set<int> all;
  for (const auto& rank : advice.ranks) all.insert(rank.cpus.begin(), rank.cpus.end());
  EXPECT_EQ(format_list({all.begin(), all.end()}), "0-79");
}

// The run as it would be with the advice.
TEST(AdviceForTheArticle, EndsTheFindings) {
  auto result = on_two_hosts();
  for (const auto* rule : {"far-nic", "lost-cpus", "not-pinned"}) {
    EXPECT_TRUE(rules_seen(result).contains(rule)) << rule;
  }
  const auto advice = advise(result, std::nullopt);
  for (const auto& rank : advice.ranks) {
    auto& record = result.ranks[static_cast<std::size_t>(rank.rank)];
    record["cpus"] = rank.cpus;
    record["net_devices"] = rank.net_devices;
  }
  result.ranks.erase(result.ranks.begin() + 8, result.ranks.end());
  for (auto& launch : result.cases[0].launches) {
    launch.lanes = {"rc_mlx5/" + advice.ranks[static_cast<std::size_t>(launch.src)].net_devices};
  }
  for (const auto* rule : {"far-nic", "lost-cpus", "far-cpus", "not-pinned", "shared-cpus"}) {
    EXPECT_FALSE(rules_seen(result).contains(rule)) << rule;
  }
}

TEST(Advice, KeepsDevicesOfTcpButTheLoopback) {
  auto result = on_two_hosts();
  result.ranks[2]["net_devices"] = "lo,eth0,ib1:1";
  EXPECT_EQ(advise(result, std::nullopt).ranks[2].net_devices, "eth0,ib2:1");
}

TEST(Advice, NamesNoNetworkDeviceUnlessInfinibandWasMeasuredBetweenHosts) {
  auto one = on_one_host();
  for (auto& rank : one.ranks) rank["net_devices"] = "lo";
  auto without = on_two_hosts();
  for (auto& record : without.cases[0].launches) {
    record.path = {{"carried_by", {{"tcp", 1.0}}}};
  }
  for (const auto& result : {one, without}) {
    const auto advice = advise(result, std::nullopt);
    EXPECT_FALSE(advice.names_nics());
    for (const auto& rank : advice.ranks) {
      EXPECT_EQ(rank.net_devices, "");
      EXPECT_FALSE(rank.cpus.empty());  // which the wiring alone tells
    }
    for (const auto& of : advice.settings)
      EXPECT_EQ(of.setting.find("NET_DEVICES"), of.setting.npos);
  }
  EXPECT_EQ(why_not(advise(one, std::nullopt), Lever::net_devices), WhyNot::one_host);
}

TEST(Advice, OnTransportsIsTheBestSetMeasured) {
  auto result = on_two_hosts();
  result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"shm", "tcp"}, 5),
                  of_all_pairs({"tcp"}, 20)};
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.ucx().at("UCX_TLS"), "self,sm,tcp");
  const auto& gain = advice.of(Lever::transports)->gain;
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->of, "p2p/shm+tcp");
  EXPECT_EQ(gain->against, "p2p/auto");
  EXPECT_DOUBLE_EQ(gain->times, 2);
  EXPECT_NEAR(gain->interval[0], 2 * 0.95 / 1.05, 1e-9);
  EXPECT_NEAR(gain->interval[1], 2 * 1.05 / 0.95, 1e-9);
}

TEST(Advice, OnTransportsIsWhatALaunchSets) {
  struct Of {
    std::vector<std::string> members, memory;
    const char* tls;
  };
  for (const auto& [members, memory, tls] :
       {Of{{"tcp"}, {"host"}, "self,tcp"}, Of{{"tcp"}, {"cuda:pool", "host"}, "self,tcp,cuda_copy"},
        Of{{"tcp"}, {"managed"}, "self,tcp,cuda_copy"},
        Of{{"nvlink"}, {"cuda"}, "self,cuda_copy,cuda_ipc,tcp"},
        Of{{"tcp", "ib"}, {"host"}, "self,tcp,rc"}}) {
    auto result = on_two_hosts();
    result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs(members, 5)};
    for (auto& of : result.cases) of.parameters["memory"] = memory;
    EXPECT_EQ(advise(result, std::nullopt).ucx().at("UCX_TLS"), tls);
  }
}

TEST(Advice, OnTransportsNeedsBothKindsOfPairsUcxsOwnChoiceAndADifference) {
  auto one_host = on_one_host();
  auto between = on_two_hosts();
  auto alone = between;
  auto equal = between;
  const std::vector<Case> cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"shm", "tcp"}, 5)};
  one_host.cases = cases;
  between.cases = cases;
  for (auto& of : between.cases) of.pairs.erase(of.pairs.begin());
  for (auto& of : between.cases) of.launches = {made_record(0, 8, "tcp", {})};
  alone.cases = {of_all_pairs({"tcp"}, 10), of_all_pairs({"shm", "tcp"}, 5)};
  equal.cases = {of_all_pairs({"auto"}, 5.1), of_all_pairs({"shm", "tcp"}, 5)};
  const std::vector<std::pair<Result, WhyNot>> all = {{one_host, WhyNot::one_host},
                                                      {between, WhyNot::not_varied},
                                                      {alone, WhyNot::not_varied},
                                                      {equal, WhyNot::no_difference}};
  for (const auto& [result, reason] : all) {
    const auto advice = advise(result, std::nullopt);
    EXPECT_EQ(why_not(advice, Lever::transports), reason);
    EXPECT_FALSE(advice.ucx().contains("UCX_TLS"));
  }
}

// Everything else about these runs would be advised.
TEST(Advice, IsNotTakenFromCasesWithLabels) {
  auto whole = on_two_hosts();
  whole.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"shm", "tcp"}, 5)};
  ASSERT_FALSE(advise(whole, std::nullopt).ucx().empty());
  std::vector<Result> runs;
  for (const auto* label :
       {"emulated-gpu", "same-gpu", "time-sliced", "soft-roce", "interrupted"}) {
    runs.push_back(whole);
    for (auto& of : runs.back().cases) of.labels = {label};
  }
  runs.push_back(whole);
  runs.back().machine["labels"] = {"vm", "emulated-cpu"};
  runs.push_back(whole);
  for (auto& of : runs.back().cases) of.parameters["inject"] = "corrupt";
  runs.push_back(whole);
  for (auto& of : runs.back().cases) of.verified.errors = 1;
  for (const auto& run : runs) {
    const auto advice = advise(run, std::nullopt);
    EXPECT_FALSE(advice.labels.empty());
    EXPECT_TRUE(advice.ucx().empty());
    EXPECT_TRUE(advice.answers.empty());
    EXPECT_TRUE(advice.classes.empty());
    for (const auto& rank : advice.ranks) EXPECT_TRUE(rank.cpus.empty() && !rank.nic);
    for (const auto& of : advice.settings) EXPECT_EQ(of.setting, "") << of.rule;
    EXPECT_EQ(why_not(advice, Lever::transports), WhyNot::labelled);
  }
}

Case latency_case(std::uint64_t bytes, double us, const std::string& protocol) {
  auto of = made_case(bytes, {"tcp"});
  of.metrics["latency_us"] = figure(us, 0.01);
  of.path["protocols"] = Json::array({{{"use", "latency"}, {"protocol", protocol}}});
  return of;
}

TEST(Advice, PlacesTheRendezvousThreshold) {
  const std::vector<Case> cases = {latency_case(1024, 5, "eager"), latency_case(4096, 90, "eager"),
                                   latency_case(8192, 100, "eager"),
                                   latency_case(16384, 20, "rendezvous")};
  auto here = on_one_host();
  here.cases = cases;
  auto advice = advise(here, std::nullopt);
  EXPECT_EQ(why_not(advice, Lever::rendezvous), WhyNot::one_host);
  EXPECT_TRUE(advice.ucx().empty());
  auto result = on_two_hosts();
  result.cases = cases;
  for (auto& of : result.cases) of.launches = {made_record(0, 8, "tcp", {})};
  advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.ucx().at("UCX_RNDV_THRESH"), "4096");
  EXPECT_DOUBLE_EQ(advice.of(Lever::rendezvous)->gain->times, 5);
  EXPECT_EQ(std::ranges::count(advice.settings, "UCX_RNDV_THRESH=4096", &AdvisedSetting::setting),
            1);
  const auto set = text_at(cases.front().parameters, "/transports");
  // Of the set, as run files have it, and of all sets.
  for (const auto& asked : {Json{{set, {{"UCX_RNDV_THRESH", "4K"}}}},
                            Json{{set, Json::object()}, {"UCX_RNDV_THRESH", "4096"}}}) {
    result.ucx["environment"]["asked"] = asked;
    EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::rendezvous), WhyNot::in_force) << asked;
  }
  for (const auto* other : {"8K", "auto"}) {
    result.ucx["environment"]["asked"] = {{set, {{"UCX_RNDV_THRESH", other}}}};
    EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::rendezvous), WhyNot::nothing) << other;
  }
  for (auto& of : result.cases) of.metrics["latency_us"].ci95.reset();
  EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::rendezvous), WhyNot::no_difference);
}

/// With a pool, and each buffer by itself.
Result with_and_without_pool(double with_us, double without_us) {
  auto result = on_one_host();
  for (auto& rank : result.ranks) rank["device"]["memory_bytes"] = 32ULL << 30U;
  result.cases.clear();
  for (const bool no_pool : {false, true}) {
    auto of = made_case(1 << 20, {"nvlink"}, "cuda");
    of.parameters["no_pool"] = no_pool;
    of.metrics["latency_us"] = figure(no_pool ? without_us : with_us, 0.02);
    result.cases.push_back(of);
  }
  return result;
}

TEST(Advice, HasAPoolWhereItsGainWasMeasured) {
  auto result = with_and_without_pool(10, 30);
  auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.of(Lever::pool)->value, "25 GiB");
  EXPECT_DOUBLE_EQ(advice.of(Lever::pool)->gain->times, 3);
  result.ranks[3]["device"]["memory_bytes"] = 16ULL << 30U;
  EXPECT_EQ(advise(result, std::nullopt).of(Lever::pool)->value, "12 GiB");
  result.ranks[3]["device"] = result.ranks[2]["device"];  // two of 32 GiB
  EXPECT_EQ(advise(result, std::nullopt).of(Lever::pool)->value, "12 GiB");
  result.ranks[3]["device"]["memory_bytes"] = nullptr;
  EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::pool), WhyNot::unknown);
  EXPECT_EQ(why_not(advise(with_and_without_pool(10, 10), std::nullopt), Lever::pool),
            WhyNot::no_difference);
  result.cases.erase(result.cases.begin());
  EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::pool), WhyNot::not_varied);
  result.cases[0].parameters["no_pool"] = false;
  EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::pool), WhyNot::in_force);
  result.cases[0].parameters["memory"] = {"host", "host"};
  EXPECT_EQ(advise(result, std::nullopt).of(Lever::pool), nullptr);
}

TEST(Advice, TellsBandwidthsOfClassesApart) {
  auto result = on_one_host();
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
  EXPECT_EQ(network_GBps(advice), std::nullopt);
  const auto rows = bandwidths_of(result, advice).at("bandwidths");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].at("src_device"), "GPU0");
  EXPECT_EQ(rows[0].at("class"), "NV2");
  EXPECT_EQ(rows[0].at("memory"), Json({"cuda", "cuda"}));
  EXPECT_EQ(rows[0].at("bytes"), 4 << 20);
  for (const auto& of_class : advice.classes) {
    EXPECT_FALSE(of_class.between_hosts);
    EXPECT_EQ(of_class.memory, "cuda");
  }
  result.cases[0].labels = {"same-gpu"};
  EXPECT_TRUE(advise(result, std::nullopt).classes.empty());
  EXPECT_EQ(bandwidths_of(result, advice).at("bandwidths")[0].at("labels"), Json({"same-gpu"}));
}

// Memory that is fast within a host says nothing of the network.
TEST(Advice, TakesTheNetworksBandwidthFromPairsBetweenHostsThatUcxServed) {
  auto result = on_two_hosts();
  auto of = made_case(4 << 20, {"shm", "tcp"}, "cuda");
  for (int dst = 1; dst < 4; ++dst) {
    of.pairs.push_back({{"src", 0}, {"dst", dst}, {"p50_GBps", 10}});
  }
  of.pairs.push_back({{"src", 0}, {"dst", 8}, {"p50_GBps", 0.1}});
  auto within = made_case(4 << 20, {"shm"}, "cuda");
  within.pairs = {{{"src", 0}, {"dst", 1}, {"p50_GBps", 50}}};
  auto sockets = of;
  sockets.key = "sockets";
  sockets.parameters["comm"] = "sockets";
  for (auto& pair : sockets.pairs) pair["p50_GBps"] = 99;
  result.cases = {of, within, sockets};
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.measured, of.key);
  EXPECT_EQ(network_GBps(advice), 0.1);
  EXPECT_EQ(advice.classes.back().memory, "cuda");
  EXPECT_TRUE(advice.classes.back().between_hosts);
}

/// Each pair's launches give what `us` says of it.
void add_launches(Case& of, const std::function<double(int dst)>& us) {
  for (int launch = 0; launch < 8; ++launch) {
    for (const int dst : {1, 2, 8}) {
      auto& record = of.launches.emplace_back(made_record(0, dst, "tcp", {}));
      record.launch = launch;
      record.samples["latency_us"].quantiles.p50 = us(dst) * (1 + 0.001 * launch);
    }
  }
}

// The median over pairs is twice as fast, and a pair a hundred times slower.
TEST(Advice, IsNoneWhereAPairLoses) {
  auto result = on_two_hosts();
  result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"shm", "tcp"}, 5)};
  add_launches(result.cases[0], [](int) { return 10; });
  add_launches(result.cases[1], [](int) { return 5; });
  EXPECT_TRUE(advise(result, std::nullopt).ucx().contains("UCX_TLS"));
  result.cases[1].launches.clear();
  add_launches(result.cases[1], [](int dst) { return dst == 2 ? 1000 : 5; });
  const auto advice = advise(result, std::nullopt);
  EXPECT_FALSE(advice.ucx().contains("UCX_TLS"));
  EXPECT_EQ(why_not(advice, Lever::transports), WhyNot::loses);
  const auto& loss = advice.of(Lever::transports)->loss;
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->pair, (std::array{0, 2}));
  EXPECT_NEAR(loss->times, 100, 1e-9);
  EXPECT_NE(
      join(advice.answers, "\n").find("but from rank 0 to rank 2 shm+tcp is 100 x slower than "),
      std::string::npos);
}

TEST(Advice, IsNoneWhereAnotherSizeLoses) {
  auto result = on_two_hosts();
  auto small = of_all_pairs({"auto"}, 1);
  auto small_of_set = of_all_pairs({"shm", "tcp"}, 3);
  for (auto* of : {&small, &small_of_set}) {
    of->parameters["bytes"] = 8;
    of->key += "/8B";
    of->pairs.erase(of->pairs.begin() + 1);  // within the host alone: this may object, too
  }
  result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"shm", "tcp"}, 5), small, small_of_set};
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(why_not(advice, Lever::transports), WhyNot::loses);
  EXPECT_EQ(advice.of(Lever::transports)->loss->of, "p2p/auto/8B");
  auto pools = with_and_without_pool(5, 10);
  auto losing = with_and_without_pool(30, 10);
  for (auto& of : losing.cases) {
    of.parameters["bytes"] = 16 << 20;
    pools.cases.push_back(of);
  }
  EXPECT_EQ(why_not(advise(pools, std::nullopt), Lever::pool), WhyNot::loses);
}

TEST(Advice, HoldsSetsAgainstEachOtherOnlyOnOneNetwork) {
  auto result = on_two_hosts();
  result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"tcp"}, 5), of_all_pairs({"shm"}, 6)};
  result.cases[0].parameters["net_devices"] = "eth0";
  result.cases[1].parameters["net_devices"] = "ib0";
  result.cases[2].parameters["net_devices"] = "";
  const auto advice = advise(result, std::nullopt);
  EXPECT_EQ(advice.of(Lever::transports)->gain->of, "p2p/shm") << "which uses no network";
  result.cases.pop_back();
  EXPECT_EQ(why_not(advise(result, std::nullopt), Lever::transports), WhyNot::not_varied);
  EXPECT_TRUE(advise(result, std::nullopt).answers.empty());
  result.cases[1].parameters["net_devices"] = "eth0";
  EXPECT_EQ(advise(result, std::nullopt).ucx().at("UCX_TLS"), "self,tcp");
}

/// The ways in which one case of another size spoils its set.
void spoil(Case& of, const std::string& why) {
  if (why == "wrong-data") {
    of.state = CaseState::failed;
    of.verified = {.checked = 12, .errors = 1};
    of.metrics.clear();
  } else if (why == "failed") {
    of.state = CaseState::failed;
    of.reason = "rank 1 was lost";
    of.metrics.clear();
  } else if (why == "impossible") {
    of.launches.emplace_back().samples["latency_us"].quantiles.min = -1;
  } else {
    of.path = {{"verdict", "other"}, {"carried_by", {{"shm", 1.0}}}};
  }
}

TEST(Advice, OfASetThatOneOfItsCasesHasSpoiledIsNone) {
  for (const std::string name : {"wrong-data", "failed", "impossible", "other-transport"}) {
    auto result = on_two_hosts();
    auto large = of_all_pairs({"tcp"}, 5);
    large.parameters["bytes"] = 4 << 20;
    large.key += "/4MiB";
    result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"tcp"}, 5), large};
    ASSERT_EQ(advise(result, std::nullopt).ucx().at("UCX_TLS"), "self,tcp");
    spoil(result.cases[2], name);
    const auto advice = advise(result, std::nullopt);
    EXPECT_TRUE(advice.ucx().empty()) << name;
    EXPECT_EQ(why_not(advice, Lever::transports), WhyNot::not_varied) << name;
    ASSERT_EQ(advice.spoiled.size(), 1U) << name;
    EXPECT_EQ(advice.spoiled[0].set, "tcp");
    EXPECT_EQ(advice.spoiled[0].key, "p2p/tcp/4MiB");
    EXPECT_EQ(advice.spoiled[0].reason(), name);
    EXPECT_FALSE(advice.spoiled[0].evidence.empty());
    EXPECT_EQ(advice.measured, "p2p/auto") << "Dask's bandwidth is of a set that may advise";
    EXPECT_TRUE(std::ranges::none_of(advice.settings, [](const AdvisedSetting& of) {
      return of.rule == "wrong-transport" && !of.setting.empty();
    })) << name;
  }
}

// What was cut short is no flaw of a set: the transport is what is told of it.
TEST(Advice, OfASetThatAnotherTransportCarriedSaysWhichWhateverElseWasCutShort) {
  auto result = on_two_hosts();
  result.cases = {of_all_pairs({"auto"}, 10), of_all_pairs({"tcp"}, 5)};
  spoil(result.cases[1], "other-transport");
  result.cases[1].labels = {"interrupted"};
  const auto advice = advise(result, std::nullopt);
  ASSERT_EQ(advice.spoiled.size(), 1U);
  EXPECT_EQ(advice.spoiled[0].reason(), "other-transport");
  EXPECT_EQ(advice.spoiled[0].evidence, "shm carried it");
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
  EXPECT_EQ(advice.hosts, 2U);
  EXPECT_EQ(advice.all_ranks, 8U);
}

}  // namespace
}  // namespace ucxbench
