#include "harness/analysis/limits/pick.hpp"

#include <gtest/gtest.h>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

std::vector<std::string> names_of(const Graph& graph, const PickedGpus& picked) {
  std::vector<std::string> names;
  for (const auto gpu : picked.gpus) names.push_back(graph.nodes[gpu].name);
  return names;
}

using Labels = std::vector<std::string>;

// GPU0 and GPU1 have one NVLink, GPU0 and GPU3 two.
TEST(PickOfADgx1, OfTwoIsAPairWithTwoNvlinks) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  const auto pick = pick_gpus(graph, 2);
  EXPECT_EQ(names_of(graph, pick.best), (Labels{"GPU0", "GPU3"}));
  EXPECT_NEAR(pick.best.reach.per_gpu_GBps, 50, 1e-9);
  EXPECT_EQ(names_of(graph, pick.naive), (Labels{"GPU0", "GPU1"}));
  EXPECT_NEAR(pick.naive.reach.per_gpu_GBps, 25, 1e-9);
  EXPECT_TRUE(pick.best.complete() && pick.exhaustive);
}

// The double links are a ring of all eight, so that of three GPUs one pair has a single one: two
// messages, one of them over 25 GB/s.
TEST(PickOfADgx1, OfThreeHasASingleNvlinkAtMostOnce) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  const auto pick = pick_gpus(graph, 3);
  EXPECT_NEAR(pick.best.reach.per_gpu_GBps, 50, 1e-9);
  EXPECT_EQ(names_of(graph, pick.best), (Labels{"GPU0", "GPU2", "GPU3"}));
}

// Four of one socket are all linked; no other four without loss are as good by number.
TEST(PickOfADgx1, OfFourIsASocket) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  const auto pick = pick_gpus(graph, 4);
  EXPECT_EQ(names_of(graph, pick.naive), (Labels{"GPU0", "GPU1", "GPU2", "GPU3"}));
  EXPECT_NEAR(pick.best.reach.per_gpu_GBps, 75, 1e-9);
  EXPECT_NEAR(pick.naive.reach.per_gpu_GBps, 75, 1e-9);
}

TEST(PickOfADgx1, OfAllIsTheRingOfDoubleNvlinks) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  const auto pick = pick_gpus(graph, 8);
  EXPECT_EQ(names_of(graph, pick.best),
            (Labels{"GPU0", "GPU3", "GPU2", "GPU1", "GPU5", "GPU6", "GPU7", "GPU4"}));
  EXPECT_NEAR(pick.best.reach.per_gpu_GBps, 7.0 / 6 * 12.5, 1e-9);
  EXPECT_NEAR(pick.naive.reach.per_gpu_GBps, pick.best.reach.per_gpu_GBps, 1e-9);
}

// All the same behind switches: the lowest numbers, out of 12870 choices.
TEST(PickBehindSwitches, IsTheLowestNumbers) {
  const auto graph = import_topology(fixture("dgx2.txt"));
  const auto pick = pick_gpus(graph, 8);
  EXPECT_TRUE(pick.exhaustive);
  EXPECT_EQ(pick.best.gpus, pick.naive.gpus);
  EXPECT_NEAR(pick.best.reach.per_gpu_GBps, 150, 1e-9);
}

TEST(Pick, RefusesWhatCannotBePicked) {
  const auto graph = import_topology(fixture("dgx1.nccl.xml"));
  for (const std::size_t count : {0, 1, 9}) EXPECT_THROW(pick_gpus(graph, count), Failure);
  EXPECT_THROW(pick_gpus(import_topology(fixture("dgx1.txt")), 2), Failure);  // no speeds
  EXPECT_THROW(pick_gpus(import_topology(fixture("two-socket.hwloc.xml")), 2), Failure);
}

}  // namespace
}  // namespace ucxbench
