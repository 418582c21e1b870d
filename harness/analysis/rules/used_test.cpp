#include "harness/analysis/rules/used.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

/// What only findings of one use contain.
const std::map<unsigned, std::vector<std::string>> words_of = {
    {over_tcp, {"tcp on ", "net/eth0", "RetransSegs", "InErrs"}},
    {over_ib, {"mlx5_0"}},
    {over_nvlink, {"nvlink/"}},
    {over_shm, {"/dev/shm", "cma"}},
    {of_gpu_memory, {"(GPU0)"}},
    {asked_for_ib, {"InfiniBand", "its port is"}}};

/// Where a NIC's link is half as wide as it could be, with a GPU and CPUs far from it.
Json troubled_topology() {
  auto graph = graph_of_host("node07");
  Link link;
  link.link_class = LinkClass::pcie;
  link.specified_GBps = 63;
  link.now_GBps = 31;
  const auto bridge = add_node(graph, NodeKind::host_bridge, "bridge");
  for (const auto* name : {"mlx5_0", "mlx5_7"}) {
    const auto nic = add_node(graph, NodeKind::nic, name);
    graph.attach(nic, bridge, link);
    graph.nodes[nic].state = std::string(name) == "mlx5_0" ? "ACTIVE" : "DOWN";
    if (graph.nodes[nic].state == "ACTIVE") graph.nodes[nic].alias = "eth0";
    graph.nodes[nic].cpus = std::vector<int>{8, 9};
  }
  const auto gpu = add_node(graph, NodeKind::gpu, "GPU0");
  graph.attach(gpu, bridge, link);
  graph.nodes[gpu].cpus = std::vector<int>{8, 9};
  return to_json(graph);
}

/// Everything that a rule speaks of is wrong on these hosts, whatever the messages use.
Result troubled(Result result) {
  std::string host = text_at(result.machine, "/hosts/0/name", "node07");
  if (result.ranks.empty()) add_rank(result, {0, 1});
  auto& facts = result.machine["hosts"][0];
  facts["shm_bytes"] = 1U << 20U;
  facts["ptrace_scope"] = 2;
  result.ucx["resources"] = {"tcp/lo"};
  result.ucx["lockable_problem"] = "only 8192 KiB";
  result.machine["error_counters"] = Json::array();
  for (const auto* name :
       {"tcp/RetransSegs", "tcp/InErrs", "net/eth0/rx_errors", "ib/mlx5_0:1/symbol_error",
        "ib/mlx5_0:1/port_xmit_wait", "nvlink/GPU0/crc_data_error"}) {
    result.machine["error_counters"].push_back({{"host", host},
                                                {"network_namespace", "net:[1]"},
                                                {"name", name},
                                                {"before", 1},
                                                {"after", 9}});
  }
  for (auto& rank : result.ranks) rank["device"] = {{"index", 0}, {"pci", nullptr}};
  result.topology = troubled_topology();
  result.findings = Json::array();
  return result;
}

Result run_over(const std::string& member, const std::string& lane, const std::string& memory) {
  auto result = made_run();
  for (int rank = 0; rank < 2; ++rank) add_rank(result, {rank});
  result.ranks[1]["host"] = "node08";
  auto of = made_case(1 << 20, {member}, memory);
  of.launches = {made_record(0, 1, member, {lane})};
  result.cases = {of};
  return troubled(std::move(result));
}

std::string all_said(const Result& result) {
  std::string text;
  for (const auto& finding : findings_of(result)) {
    text += text_at(finding, "/id") + ": " + text_at(finding, "/subject") + ": " +
            text_at(finding, "/evidence") + "\n";
  }
  return text;
}

/// All findings of what was used are there, and none of anything else.
void expect_said(const Result& result, unsigned used) {
  const auto text = all_said(result);
  for (const auto& [use, words] : words_of) {
    for (const auto& word : words) {
      EXPECT_EQ(text.find(word) != std::string::npos, (use & used) != 0) << word << "\n" << text;
    }
  }
}

TEST(Used, IsAllThatFindingsSpeakOf) {
  expect_said(run_over("shm", "sysv/memory", "host"), over_shm);
  // The topology calls eth0's adapter mlx5_0.
  expect_said(run_over("tcp", "tcp/eth0", "host"), over_tcp | over_ib);
  expect_said(run_over("ib", "rc_mlx5/mlx5_0:1", "host"), over_ib | asked_for_ib);
  expect_said(run_over("ib", "rc_mlx5/mlx5_0:1", "cuda"), over_ib | asked_for_ib | of_gpu_memory);
  expect_said(run_over("nvlink", "cuda_ipc/cuda", "cuda"), over_nvlink | of_gpu_memory);
}

TEST(Used, IsAskedOfEachDevice) {
  auto text = all_said(run_over("tcp", "tcp/lo", "host"));
  EXPECT_NE(text.find("RetransSegs"), text.npos);
  for (const auto* other : {"net/eth0", "mlx5_0"}) EXPECT_EQ(text.find(other), text.npos) << text;
  text = all_said(run_over("ib", "rc_mlx5/mlx5_7:1", "host"));
  EXPECT_EQ(text.find("mlx5_0:1"), text.npos) << text;
}

TEST(Used, ByAnotherBackEndIsNotUcxs) {
  auto result = run_over("shm", "", "host");
  result.cases[0].parameters["comm"] = "sockets";
  expect_said(result, any_run);
  result = run_over("tcp", "", "host");
  result.cases[0].parameters["comm"] = "sockets";
  result.cases[0].launches[0].lanes.clear();
  EXPECT_NE(all_said(result).find("RetransSegs"), std::string::npos);
}

TEST(Used, IsWhatWasAskedForWhereNothingElseIsKnown) {
  auto result = run_over("auto", "", "host");
  result.cases[0].launches[0].path = Json::object();
  result.cases[0].launches[0].lanes.clear();
  expect_said(result, over_shm | over_tcp | over_nvlink | over_ib | asked_for_ib);
  result.cases[0].launches[0].lanes = {"sysv/memory", "cma/memory"};
  expect_said(result, over_shm | asked_for_ib);
}

// Asked for or not: no byte went over it.
TEST(Used, OfWhatSentNothingIsNone) {
  auto result = run_over("tcp", "", "host");
  result.cases[0].launches[0].path = Json::object();
  result.cases[0].launches[0].lanes.clear();
  expect_said(result, over_tcp | over_ib);
  result.cases[0].exchange = {{"bytes", 0.0}};
  expect_said(result, any_run);
}

TEST(Used, InsideOneGpuIsNoNvlink) {
  auto result = run_over("nvlink", "cuda_ipc/cuda", "cuda");
  result.cases[0].labels = {"same-gpu"};
  EXPECT_EQ(all_said(result).find("nvlink/"), std::string::npos);
}

// Each is put on the troubled host; what it used is taken from its cases' summaries here.
TEST(Used, IsAllThatFindingsOfRecordedRunsSpeakOf) {
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(UCXBENCH_RUNS)) {
    if (entry.path().extension() != ".json") continue;
    ++runs;
    const auto result = troubled(read_result(entry.path()));
    std::set<std::string> members;
    bool gpu = false;
    for (const auto& of : result.cases) {
      for (const auto& [member, share] : carried_by(of.path)) members.insert(member);
      gpu |= at_place(of, "cuda");
    }
    const auto text = all_said(result);
    const std::map<std::string, unsigned> uses = {
        {"tcp", over_tcp}, {"shm", over_shm}, {"ib", over_ib}};
    for (const auto& [member, use] : uses) {
      if (members.contains(member)) continue;
      for (const auto& word : words_of.at(use)) {
        EXPECT_EQ(text.find(word), std::string::npos) << entry.path() << "\n" << text;
      }
    }
    if (!gpu) {
      EXPECT_EQ(text.find("GPU"), std::string::npos) << entry.path() << "\n" << text;
    }
    EXPECT_EQ(text.find("net/eth0"), std::string::npos) << entry.path() << "\n" << text;
  }
  EXPECT_GE(runs, 5U);
}

}  // namespace
}  // namespace ucxbench
