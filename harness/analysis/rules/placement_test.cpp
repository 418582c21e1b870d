#include <gtest/gtest.h>

#include "harness/analysis/rules/article_for_test.hpp"
#include "harness/topology/build.hpp"
#include "harness/topology/node_for_test.hpp"

namespace ucxbench {
namespace {

TEST(FarNic, IsThatOfFourGpusOfTheDgx1) {
  EXPECT_EQ(said(far_nic, dgx1_of_the_article()),
            (Said{"rank 2 (GPU2): uses ib1 (SYS), ib2 is nearer (PIX)",
                  "rank 3 (GPU3): uses ib1 (SYS), ib2 is nearer (PIX)",
                  "rank 4 (GPU4): uses ib2 (SYS), ib1 is nearer (PIX)",
                  "rank 5 (GPU5): uses ib2 (SYS), ib1 is nearer (PIX)"}));
}

TEST(FarNic, IsNotOneThatCarriedNothing) {
  auto result = dgx1_of_the_article();
  for (auto& record : result.cases[0].launches) record.path["carried_by"] = {{"tcp", 1.0}};
  EXPECT_EQ(said(far_nic, result), Said());
}

TEST(FarNic, IsWhatTheCountersSay) {
  auto result = dgx1_of_the_article();
  result.cases[0].launches = {made_record(2, 3, "ib", {"rc_mlx5/ib1:1", "rc_mlx5/ib2:1"})};
  result.ranks[3]["net_devices"] = "";
  result.cases[0].launches[0].path["bytes_by_counter"] = {{"ib/ib1:1", 40}, {"ib/ib2:1", 1000}};
  for (const int gpu : {4, 5}) result.ranks[gpu]["net_devices"] = "ib1:1";
  EXPECT_EQ(said(far_nic, result), Said());
}

TEST(FarNic, LeavesOutThoseThatAreDown) {
  auto result = dgx1_of_the_article();
  for (auto& device : result.topology["devices"]) {
    if (device["kind"] == "nic") device["state"] = device["name"] == "ib2" ? "DOWN" : "ACTIVE";
  }
  // ib0 is up, and behind the same host bridge.
  EXPECT_EQ(said(far_nic, result)[0], "rank 2 (GPU2): uses ib1 (SYS), ib0 is nearer (PHB)");
}

TEST(LostCpus, AreTheLastOfEachRange) {
  const auto lines = said(lost_cpus, dgx1_of_the_article());
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[0], "rank 0 (GPU0): may run on 38 of the 40 CPUs near GPU0: not on 19,59");
  EXPECT_EQ(lines[7], "rank 7 (GPU7): may run on 38 of the 40 CPUs near GPU7: not on 39,79");
}

TEST(LostCpus, AreNotThoseOfARankOnOneCpuOrOnAll) {
  auto result = dgx1_of_the_article();
  for (auto& rank : result.ranks) rank["cpus"] = Json::array({0});
  EXPECT_EQ(said(lost_cpus, result), Said());
  for (auto& rank : result.ranks) rank["cpus"] = "0-79";
  EXPECT_EQ(said(lost_cpus, result), Said());
}

TEST(FarCpus, AreThoseOfTheOtherSocket) {
  auto result = dgx1_of_the_article();
  EXPECT_EQ(said(far_cpus, result), Said());
  result.ranks[1]["cpus"] = Json::array({20});
  EXPECT_EQ(said(far_cpus, result),
            Said{"rank 1 (GPU1): runs on CPU 20, far from GPU1, whose CPUs are 0-19,40-59"});
  result.ranks[1]["host"] = "node08";  // whose topology is not in the run
  EXPECT_EQ(said(far_cpus, result), Said());
}

TEST(SharedCpus, AreFewerThanRanks) {
  auto result = made_run();
  for (const int cpu : {0, 1, 1}) add_rank(result, Json::array({cpu}));
  EXPECT_EQ(said(shared_cpus, result),
            Said{"ranks on node07: 3 ranks on 2 CPUs (0-1): polling ranks take turns"});
  result.cases.resize(1);
  result.cases[0].parameters["progress_mode"] = "event";
  EXPECT_EQ(said(shared_cpus, result),
            Said{"ranks on node07: 3 ranks on 2 CPUs (0-1): all times contain waits for a CPU"});
  result.ranks[2]["cpus"] = Json::array({2});
  EXPECT_EQ(said(shared_cpus, result), Said());
}

TEST(SharedCpus, AreFewerThanThreadsOfRanks) {
  auto result = made_run();
  for (const int cpu : {0, 1}) add_rank(result, Json::array({cpu}));
  result.cases.resize(2);
  result.cases[1].parameters["threads"] = 2;
  EXPECT_EQ(said(shared_cpus, result),
            Said{"ranks on node07: 2 ranks of 2 threads on 2 CPUs (0-1): polling threads take "
                 "turns"});
  result.cases[1].parameters["threads"] = 1;
  EXPECT_EQ(said(shared_cpus, result), Said());
}

TEST(SharedCpus, MayBeThoseThatALauncherGave) {
  auto result = made_run();
  for (const int cpu : {0, 1, 1, 0}) add_rank(result, Json::array({cpu}));
  auto& host = result.machine["hosts"][0];
  host["hardware_threads"] = 8;
  const auto process = [](int cpu) { return Json{{"cpus", {cpu}}, {"devices", Json::object()}}; };
  host["launcher"] = {{"name", "Slurm"}, {"processes", {process(0), process(1)}}};
  EXPECT_EQ(said(shared_cpus, result),
            Said{"ranks on node07: 4 ranks on 2 CPUs (0-1): polling ranks take turns; Slurm gave 2 "
                 "of 8 CPUs"});
  EXPECT_EQ(shared_cpus(Judged(result))[0].next, "use srun --cpus-per-task=2");
  host["launcher"]["name"] = "Open MPI";
  EXPECT_EQ(shared_cpus(Judged(result))[0].next, "use mpirun --bind-to none");
  expect_short(shared_cpus, with_a_long_name(result));
}

TEST(NotPinned, AreRanksWithOneSetOfSeveralCpus) {
  auto result = made_run();
  for (int rank = 0; rank < 2; ++rank) add_rank(result, "0-79");
  EXPECT_EQ(said(not_pinned, result), Said{"ranks on node07: 2 ranks share CPUs 0-79: the "
                                           "scheduler may move them away from their memory"});
  result.ranks[1]["cpus"] = "0-78";
  EXPECT_EQ(said(not_pinned, result), Said());
  for (auto& rank : result.ranks) rank["cpus"] = nullptr;
  EXPECT_EQ(said(not_pinned, result), Said());
}

}  // namespace
}  // namespace ucxbench
