#include "harness/analysis/media.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "harness/result/labels.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/link_specifications.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

constexpr int payload = 1 << 20;

/// Two ranks with a GPU each under one PCIe switch, or two, joined by NVLinks or not.
Result run_between(int nvlinks, const std::optional<int>& counted) {
  Graph graph;
  const auto host = add_node(graph, NodeKind::host, "host");
  const auto bridge = add_node(graph, NodeKind::bridge, "switch");
  attach_pcie(graph, bridge, host, pcie_capacity(16, 16), "");
  Result result;
  result.machine["hosts"] = Json::array({{{"name", "node"}}});
  for (int rank = 0; rank < 2; ++rank) {
    const auto gpu = add_node(graph, NodeKind::gpu, "GPU" + std::to_string(rank));
    graph.nodes[gpu].pci = "0000:0" + std::to_string(rank + 1) + ":00.0";
    attach_pcie(graph, gpu, bridge, pcie_capacity(16, 16), "");
    result.ranks.push_back({{"rank", rank},
                            {"host", "node"},
                            {"device", {{"index", rank}, {"pci", graph.nodes[gpu].pci}}}});
  }
  if (nvlinks > 0) {
    const auto a = graph.find_name("GPU0");
    const auto b = graph.find_name("GPU1");
    add_nvlinks(graph, a, {{b, nvlinks}}, link_specification("NVLink 4"));
    add_nvlinks(graph, b, {{a, nvlinks}}, link_specification("NVLink 4"));
  }
  result.topology = to_json(graph);
  Case of;
  of.shows.ranks = 2;
  LaunchRecord record;
  record.path = {{"carried_by", {{"nvlink", 1.0}}}, {"payload_bytes", payload}};
  if (counted) {
    record.path["bytes_by_counter"] = {{"tcp/lo", 500}, {"nvlink/GPU0", *counted}};
  }
  of.launches = {record};
  of.pairs = Json::array({{{"src", 0}, {"dst", 1}}});
  result.cases = {of};
  return result;
}

SeenMedium seen(int nvlinks, const std::optional<int>& counted) {
  auto result = run_between(nvlinks, counted);
  add_media(result);
  const auto& of = result.cases[0];
  EXPECT_EQ(medium_in(of.pairs[0]), medium_in(of.path));
  return medium_in(of.path).value();
}

SeenMedium known(Medium medium, MediumProof proof) { return {.medium = medium, .proof = proof}; }

SeenMedium denied(double counted) {
  return {.proof = MediumProof::contradicted, .counted = counted};
}

TEST(Media, FollowCountersAndThePath) {
  EXPECT_EQ(seen(2, payload), known(Medium::nvlink, MediumProof::counters));
  EXPECT_EQ(seen(2, std::nullopt), known(Medium::nvlink, MediumProof::path_class))
      << "the driver has no such counter";
  EXPECT_EQ(seen(2, 0), denied(0)) << "it stood still";
  EXPECT_EQ(seen(2, payload / 2), denied(0.5));
  EXPECT_EQ(seen(0, std::nullopt), known(Medium::pcie, MediumProof::path_class));
  EXPECT_EQ(seen(0, 0), known(Medium::pcie, MediumProof::path_class));
}

TEST(Media, AreOfOneGpuWhereTheRanksShareIt) {
  auto result = run_between(2, 0);
  result.cases[0].launches[0].path["labels"] = {to_string(Label::same_gpu)};
  add_media(result);
  EXPECT_EQ(medium_in(result.cases[0].path), known(Medium::same_gpu, MediumProof::one_gpu));
}

TEST(Media, OfUnknownWiringAreUnknownUnlessCounted) {
  for (const int counted : {0, payload}) {
    auto result = run_between(2, counted);
    result.topology = Json::object();
    add_media(result);
    EXPECT_EQ(medium_in(result.cases[0].path),
              counted > 0 ? known(Medium::nvlink, MediumProof::counters) : SeenMedium{});
  }
}

TEST(Media, AreOnlyOfWhatCudaIpcCarried) {
  auto result = run_between(2, 0);
  result.cases[0].launches[0].path["carried_by"] = {{"tcp", 1.0}};
  add_media(result);
  EXPECT_FALSE(medium_in(result.cases[0].path));
  EXPECT_FALSE(medium_in(result.cases[0].pairs[0]));
}

TEST(Media, OfLaunchesThatDifferAreTheWorst) {
  auto result = run_between(2, payload);
  auto& of = result.cases[0];
  of.launches.push_back(of.launches[0]);
  of.launches[0].path["bytes_by_counter"]["nvlink/GPU0"] = payload / 2;
  of.launches[1].path["bytes_by_counter"]["nvlink/GPU0"] = payload / 4;
  add_media(result);
  EXPECT_EQ(medium_in(of.path), denied(0.25));
}

}  // namespace
}  // namespace ucxbench
