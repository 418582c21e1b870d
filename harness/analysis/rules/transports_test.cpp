#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/analysis/fixtures.hpp"
#include "harness/analysis/imports/import.hpp"
#include "harness/analysis/rules/run_for_test.hpp"
#include "harness/result/older_runs.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// GPUs 0 and 3 of a DGX-1, between which there are two NVLinks.
Result two_gpus(const std::string& carrier, const std::vector<std::string>& lanes) {
  auto result = made_run();
  result.topology = to_json(import_topology(fixture("dgx1.txt")));
  add_rank(result, Json::array({0}), 0);
  add_rank(result, Json::array({1}), 3);
  auto of = made_case(4 << 20, {"tcp", "nvlink"}, "cuda");
  of.launches = {made_record(0, 1, carrier, lanes)};
  of.path = of.launches[0].path;
  result.cases = {of};
  return result;
}

TEST(NvlinkUnused, SaysWhatWentInstead) {
  EXPECT_EQ(said(nvlink_unused, two_gpus("tcp", {"tcp/eth0"})),
            Said{"pingpong tag, cuda to cuda, over tcp+nvlink: NV2 GPU0-GPU3 unused, tcp carried 4 "
                 "MiB: no cuda_ipc lane"});
  EXPECT_EQ(said(nvlink_unused, two_gpus("tcp", {"tcp/eth0", "cuda_ipc/cuda"})),
            Said{"pingpong tag, cuda to cuda, over tcp+nvlink: NV2 GPU0-GPU3 unused, tcp carried 4 "
                 "MiB: cuda_ipc lane not taken"});
}

TEST(NvlinkUnused, BelievesCountersThatStoodStill) {
  auto result = two_gpus("nvlink", {"cuda_ipc/cuda"});
  auto& counters = result.cases[0].launches[0].path["bytes_by_counter"];
  counters = {{"nvlink/GPU0", 0}};
  EXPECT_EQ(said(nvlink_unused, result),
            Said{"pingpong tag, cuda to cuda, over tcp+nvlink: NV2 GPU0-GPU3 unused, cuda_ipc "
                 "carried 4 MiB: NVLink's counters stood still"});
  counters = {{"nvlink/GPU0", 1000}};
  EXPECT_EQ(said(nvlink_unused, result), Said());
}

TEST(NvlinkUnused, IsOnlyMixedWhereCountersSawAPart) {
  auto result = two_gpus("nvlink", {"cuda_ipc/cuda"});
  auto& counters = result.cases[0].launches[0].path["bytes_by_counter"];
  for (const int counted : {60, 500, 900}) {
    counters = {{"nvlink/GPU0", counted}};
    EXPECT_EQ(said(nvlink_unused, result), Said()) << counted;
    EXPECT_EQ(said(mixed_transport, result),
              Said{fmt::format("pingpong tag, cuda to cuda, over tcp+nvlink: cuda_ipc "
                               "carried 4 MiB, NVLink's counters saw {} % of "
                               "the bytes",
                               significant(counted / 10.0, 2))});
  }
  for (const int counted : {0, 1000}) {
    counters = {{"nvlink/GPU0", counted}};
    EXPECT_EQ(said(mixed_transport, result), Said()) << counted;
  }
}

TEST(NvlinkUnused, KnowsThatStreamsNeverTakeIt) {
  auto result = two_gpus("tcp", {"tcp/eth0"});
  result.cases[0].parameters["api"] = "stream";
  const auto findings = nvlink_unused(Judged(result));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].next, "use --api tag");
}

TEST(NvlinkUnused, IsSilentWhereItWasUsedOrNotAskedForOrIsNotThere) {
  EXPECT_EQ(said(nvlink_unused, two_gpus("nvlink", {"cuda_ipc/cuda"})), Said());
  auto result = two_gpus("tcp", {"tcp/eth0"});
  result.cases[0].parameters["transports"] = {"tcp"};
  EXPECT_EQ(said(nvlink_unused, result), Said());
  result = two_gpus("tcp", {"tcp/eth0"});
  result.ranks[1]["device"]["index"] = 5;  // SYS
  EXPECT_EQ(said(nvlink_unused, result), Said());
  result = two_gpus("tcp", {"tcp/eth0"});
  result.cases[0].parameters["bytes"] = 8;  // what UCX stages through the host
  result.cases[0].shows = shows_of_older(result.cases[0]);
  EXPECT_EQ(said(nvlink_unused, result), Said());
  result = two_gpus("tcp", {"tcp/eth0"});
  result.cases[0].launches[0].path["carried_by"] = nullptr;  // cannot tell
  EXPECT_EQ(said(nvlink_unused, result), Said());
}

TEST(NvlinkUnused, OfAWorkloadCountsItsPairs) {
  auto result = two_gpus("tcp", {"tcp/eth0"});
  add_rank(result, Json::array({2}), 4);
  result.cases[0].parameters.erase("bytes");
  result.cases[0].parameters["runs"] = 3;
  result.cases[0].parameters["ranks"] = 3;
  result.cases[0].shows = shows_of_older(result.cases[0]);
  // 0-3 and 0-4, not 3-4.
  EXPECT_EQ(said(nvlink_unused, result),
            Said{"pingpong tag, cuda to cuda, over tcp+nvlink: NV2 GPU0-GPU3 (2 such pairs) "
                 "unused, tcp carried the runs of 3 ranks: no cuda_ipc lane"});
}

TEST(WrongTransport, SaysWhatCarriedInstead) {
  auto result = made_run();
  for (const std::uint64_t bytes : {8U, 1024U, 4096U}) {
    auto of = made_case(bytes, {"ib"});
    const bool wrong = bytes > 8;
    of.path = {{"verdict", wrong ? "other" : "as-asked"},
               {"carried_by", {{wrong ? "tcp" : "ib", 1.0}}}};
    result.cases.push_back(of);
  }
  EXPECT_EQ(said(wrong_transport, result), Said{"pingpong tag, host to host, over ib: ib was not "
                                                "used: tcp carried 1 KiB to 4 KiB (2 of 3 cases)"});
  EXPECT_EQ(said(mixed_transport, result), Said());
  for (auto& of : result.cases) of.path["verdict"] = "unknown";
  EXPECT_EQ(said(wrong_transport, result), Said());
}

TEST(WrongTransport, LeavesNvlinkToItsOwnRule) {
  auto result = two_gpus("tcp", {"tcp/eth0"});
  result.cases[0].parameters["transports"] = {"nvlink"};
  result.cases[0].path["verdict"] = "other";
  EXPECT_EQ(said(wrong_transport, result), Said());
  EXPECT_EQ(said(nvlink_unused, result).size(), 1U);
}

TEST(MixedTransport, SaysWhoCarriedWhat) {
  auto result = made_run();
  auto of = made_case(1024, {"ib"});
  of.path = {{"verdict", "partly"}, {"carried_by", {{"tcp", 0.25}, {"ib", 0.75}}}};
  result.cases = {of};
  EXPECT_EQ(said(mixed_transport, result),
            Said{"pingpong tag, host to host, over ib: ib was used only in part: ib 75 %, tcp 25 % "
                 "carried 1 KiB (1 of 1 cases)"});
}

TEST(SeveralNics, AreNamed) {
  auto result = two_gpus("ib", {"rc_mlx5/ib0:1", "rc_mlx5/ib2:1"});
  EXPECT_EQ(said(several_nics, result),
            Said{"pingpong tag, cuda to cuda, over tcp+nvlink: messages of 4 MiB are striped over "
                 "ib0, ib2"});
  // The second lane is there for a memory that was not used.
  result.cases[0].launches[0].path["bytes_by_counter"] = {{"ib/ib0:1", 1000}, {"ib/ib2:1", 3}};
  EXPECT_EQ(said(several_nics, result), Said());
}

}  // namespace
}  // namespace ucxbench
