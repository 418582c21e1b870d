#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

struct MadeKind {
  const char* memory;
  double GBps;
  const char* carrier;
  const char* protocol = "zero-copy";
};

Result run_of_kinds(const MadeKind& plain, const MadeKind& own, std::uint64_t bytes = 1 << 20) {
  auto result = made_run();
  for (const auto& side : {plain, own}) {
    auto of = made_case(bytes, {"tcp", "nvlink"}, side.memory);
    of.metrics["bandwidth_GBps"].quantiles.p50 = side.GBps;
    of.path["carried_by"][side.carrier] = 1.0;
    for (const auto& [use, protocol] :
         {std::pair{"counted", "another"}, std::pair{"latency", side.protocol}}) {
      of.path["protocols"].push_back({{"use", use}, {"protocol", protocol}});
    }
    result.cases.push_back(of);
  }
  return result;
}

TEST(MemoryFallback, IsSlowAndNamesTheWay) {
  const auto result =
      run_of_kinds({"cuda", 200, "nvlink"}, {"cuda:async", 0.3, "tcp", "frag cuda"});
  EXPECT_EQ(said(memory_fallback, result),
            Said{"pingpong tag, cuda:async to cuda:async, over tcp+nvlink: 1 MiB 0.300 GB/s by "
                 "tcp, cuda 200 GB/s by cuda_ipc; UCX: frag cuda"});
  EXPECT_EQ(memory_fallback(Judged(result))[0].next, "use cudaMalloc for messages");
}

TEST(MemoryFallback, MayTakeTheSameWay) {
  const auto slow = run_of_kinds({"cuda", 200, "nvlink"}, {"cuda:vmm", 99, "nvlink"});
  EXPECT_EQ(said(memory_fallback, slow).size(), 1U);
  const auto fast = run_of_kinds({"cuda", 200, "nvlink"}, {"cuda:vmm", 101, "nvlink"});
  EXPECT_EQ(said(memory_fallback, fast), Said());
  const auto copied = run_of_kinds({"cuda", 200, "nvlink"}, {"cuda:vmm", 101, "nvlink", "frag"});
  EXPECT_EQ(said(memory_fallback, copied).size(), 1U);
}

TEST(MemoryFallback, IsNotWhereLaunchesDifferAsMuch) {
  auto result = run_of_kinds({"cuda", 200, "nvlink"}, {"cuda:vmm", 50, "nvlink"});
  result.cases[0].metrics["bandwidth_GBps"].ci95 = {190, 210};
  auto& own = result.cases[1].metrics["bandwidth_GBps"];
  own.ci95 = {40, 60};
  EXPECT_EQ(said(memory_fallback, result).size(), 1U);
  own.ci95 = {40, 195};
  EXPECT_EQ(said(memory_fallback, result), Said());
}

TEST(MemoryFallback, OfAnEmulatedGpuIsTheWayAlone) {
  auto result = run_of_kinds({"cuda", 200, "nvlink"}, {"managed", 1, "tcp"});
  for (auto& of : result.cases) of.labels = {"emulated-gpu"};
  EXPECT_EQ(
      said(memory_fallback, result),
      Said{"pingpong tag, managed to managed, over tcp+nvlink: 1 MiB by tcp, cuda by cuda_ipc"});
  for (auto& of : result.cases) of.path["carried_by"] = {{"tcp", 1.0}};
  EXPECT_EQ(said(memory_fallback, result), Said());
}

TEST(MemoryFallback, ComparesWithTheHostsOwnPages) {
  const auto result = run_of_kinds({"host", 8, "shm"}, {"host:node1", 3, "shm"});
  EXPECT_EQ(said(memory_fallback, result),
            Said{"pingpong tag, host:node1 to host:node1, over tcp+nvlink: 1 MiB 3.00 GB/s by shm, "
                 "host 8.00 GB/s by shm"});
}

TEST(MemoryFallback, SaysNothingByFiguresThatDoNotCount) {
  const auto run = run_of_kinds({"host", 8, "shm"}, {"host:huge", 3, "shm"});
  EXPECT_EQ(memory_fallback(Judged(run)).at(0).next, "use host, pages of the usual size");
  for (const std::size_t side : {0, 1}) {
    auto other = run;
    other.cases[side].launches = {made_record(0, 1, "shm", {})};
    other.cases[side].launches[0].samples["bandwidth_GBps"].quantiles.max = 1e6;
    EXPECT_EQ(said(memory_fallback, other), Said()) << side;
    other = run;
    other.cases[side].labels = {"time-sliced"};
    EXPECT_EQ(said(memory_fallback, other), Said()) << side;
  }
}

TEST(MemoryFallback, NeedsBothAndLongMessages) {
  EXPECT_EQ(said(memory_fallback, run_of_kinds({"cuda", 9, "nvlink"}, {"cuda:async", 1, "tcp"}, 8)),
            Said());
  auto alone = run_of_kinds({"cuda", 9, "nvlink"}, {"cuda:async", 1, "tcp"});
  alone.cases.erase(alone.cases.begin());
  EXPECT_EQ(said(memory_fallback, alone), Said());
}

}  // namespace
}  // namespace ucxbench
