#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

Result host_with(const std::string& name, const Json& value) {
  auto result = made_run();
  result.machine["hosts"][0][name] = value;
  return result;
}

/// Before a run: nothing is measured yet.
Result examined(const Graph& graph) {
  Result result = made_run();
  result.cases.clear();
  result.topology = to_json(graph);
  return result;
}

TEST(SmallShm, IsThatOfAContainer) {
  const auto said_of = said(small_shm, host_with("shm_bytes", 64U << 20U));
  ASSERT_EQ(said_of.size(), 1U);
  EXPECT_NE(said_of[0].find("/dev/shm has 64 MiB"), std::string::npos);
  EXPECT_EQ(said(small_shm, host_with("shm_bytes", 1U << 30U)), Said());
  EXPECT_EQ(said(small_shm, host_with("shm_bytes", nullptr)).size(), 1U);  // it is not there
  EXPECT_EQ(said(small_shm, host_with("ptrace_scope", 0)), Said());        // nobody looked
}

TEST(SharedMemoryOfUcx, IsNothingToSockets) {
  auto result = host_with("shm_bytes", 64U << 20U);
  result.machine["hosts"][0]["ptrace_scope"] = 2;
  result.ucx["resources"] = {"tcp/lo"};
  result.cases = {made_case(8, {"shm"})};
  EXPECT_EQ(said(small_shm, result).size(), 1U);
  EXPECT_EQ(said(cma_blocked, result).size(), 1U);
  result.cases[0].parameters["comm"] = "sockets";
  EXPECT_EQ(said(small_shm, result), Said());
  EXPECT_EQ(said(cma_blocked, result), Said());
}

TEST(CmaBlocked, NeedsBothTheScopeAndItsConsequence) {
  auto result = host_with("ptrace_scope", 2);
  result.ucx["resources"] = {"tcp/lo", "sysv/memory"};
  EXPECT_EQ(said(cma_blocked, result).size(), 1U);
  result.ucx["resources"].push_back("cma/memory");
  EXPECT_EQ(said(cma_blocked, result), Said());
  result.ucx.erase("resources");
  EXPECT_EQ(said(cma_blocked, result), Said());
  result = host_with("ptrace_scope", nullptr);
  result.ucx["resources"] = {"tcp/lo"};
  EXPECT_EQ(said(cma_blocked, result), Said());
}

TEST(CmaBlocked, IsAlsoByAFilterOfSystemCalls) {
  auto result = host_with("cma_error", "process_vm_readv: Operation not permitted");
  result.ucx["resources"] = {"sysv/memory"};
  const auto findings = said(cma_blocked, result);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].find("(process_vm_readv: Operation not permitted)"), std::string::npos);
  // UCX asks only whether it may write.
  result.ucx["resources"].push_back("cma/memory");
  const auto unseen = said(cma_blocked, result);
  ASSERT_EQ(unseen.size(), 1U);
  EXPECT_NE(unseen[0].find("UCX uses cma, which the kernel forbids"), std::string::npos);
  result.ucx.erase("resources");
  EXPECT_EQ(said(cma_blocked, result), Said());
  result = host_with("cma_error", nullptr);
  result.ucx["resources"] = {"sysv/memory"};
  EXPECT_EQ(said(cma_blocked, result), Said());
}

TEST(OwnNamespaces, KeepRanksOfOneHostFromEachOther) {
  auto result = made_run();
  add_rank(result, {0});
  add_rank(result, {1});
  EXPECT_EQ(said(own_namespaces, result), Said());  // not recorded
  for (auto& rank : result.ranks) rank["namespaces"] = {{"user", "user:[1]"}, {"ipc", "ipc:[1]"}};
  EXPECT_EQ(said(own_namespaces, result), Said());
  result.ranks[1]["namespaces"]["user"] = "user:[2]";
  const auto findings = said(own_namespaces, result);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].find("(user): UCX has no cma between"), std::string::npos);
  result.ranks[1]["host"] = "node08";
  EXPECT_EQ(said(own_namespaces, result), Said());
}

TEST(CpuQuota, IsHeldAgainstTheRanks) {
  auto result = host_with("cpu_quota", 1.5);
  EXPECT_EQ(said(cpu_quota, result).size(), 1U);
  result.machine["hosts"][0]["cpu_quota"] = 64;
  EXPECT_EQ(said(cpu_quota, result), Said());
  result.machine["hosts"][0]["cpu_quota"] = nullptr;
  EXPECT_EQ(said(cpu_quota, result), Said());
}

TEST(Turbo, IsNamedWhereItIsOn) {
  EXPECT_EQ(said(turbo, host_with("turbo", true)).size(), 1U);
  EXPECT_EQ(said(turbo, host_with("turbo", false)), Said());
  EXPECT_EQ(said(turbo, host_with("turbo", nullptr)), Said());
}

TEST(UnusableGpus, AreThoseThatUcxCannotMoveBytesOf) {
  auto graph = graph_of_host("test");
  add_node(graph, NodeKind::gpu, "GPU0");
  auto result = examined(graph);
  result.ucx["transports"]["nvlink"] = "this UCX was built without CUDA";
  EXPECT_EQ(
      said(unusable_gpus, result),
      Said{"GPU0: 1 GPU found, but UCX cannot use their memory: this UCX was built without CUDA"});
  result.ucx["transports"]["nvlink"] = nullptr;
  EXPECT_EQ(said(unusable_gpus, result), Said());
  result = examined(graph_of_host("test"));
  result.ucx["transports"]["nvlink"] = "no CUDA driver";
  EXPECT_EQ(said(unusable_gpus, result), Said());
}

TEST(UnusableNics, HaveAnActivePort) {
  auto graph = graph_of_host("test");
  const auto nic = add_node(graph, NodeKind::nic, "mlx5_0");
  graph.nodes[nic].state = "ACTIVE";
  auto result = examined(graph);
  result.ucx["transports"]["ib"] = "this UCX was built without InfiniBand";
  EXPECT_EQ(said(unusable_nics, result).size(), 1U);
  result.ucx["transports"]["ib"] = nullptr;
  EXPECT_EQ(said(unusable_nics, result), Said());
  graph.nodes[nic].state = "DOWN";
  result = examined(graph);
  result.ucx["transports"]["ib"] = "no port is up";
  EXPECT_EQ(said(unusable_nics, result), Said());
}

}  // namespace
}  // namespace ucxbench
