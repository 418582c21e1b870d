#include <gtest/gtest.h>

#include "harness/analysis/rules/run_for_test.hpp"

namespace ucxbench {
namespace {

Result counted(const std::string& name, std::uint64_t before, std::uint64_t after) {
  auto result = made_run();
  result.machine["error_counters"] = Json::array({{{"host", "node07"},
                                                   {"network_namespace", "net:[1]"},
                                                   {"name", name},
                                                   {"before", before},
                                                   {"after", after}}});
  return result;
}

TEST(ErrorCountersRule, NamesDevicesWhoseCountersGrew) {
  auto result = counted("ib/mlx5_0:1/symbol_error", 12, 15);
  result.machine["error_counters"].push_back(
      {{"host", "node07"}, {"name", "ib/mlx5_0:1/link_downed"}, {"before", 0}, {"after", 1}});
  EXPECT_EQ(said(error_counters, result),
            Said{"ib/mlx5_0:1 on node07: symbol_error +3, link_downed +1 during the run (all "
                 "traffic): data was lost or damaged"});
  EXPECT_EQ(said(congestion, result), Said());
  for (const auto* name :
       {"net/eth0/rx_missed_errors", "nvlink/GPU3/crc_data_error", "tcp/InErrs"}) {
    EXPECT_EQ(said(error_counters, counted(name, 1, 2)).size(), 1U) << name;
  }
}

TEST(ErrorCountersRule, IsSilentWhereNoneGrew) {
  EXPECT_EQ(said(error_counters, made_run()), Said());
  EXPECT_EQ(said(error_counters, counted("net/eth0/rx_errors", 4, 4)), Said());
  auto damaged = made_run();
  damaged.machine["error_counters"] = Json::array({nullptr, 3, {{"name", "x"}}});
  EXPECT_EQ(said(error_counters, damaged), Said());
}

TEST(Congestion, IsWaitingAndSendingAgain) {
  for (const auto* name : {"tcp/RetransSegs", "ib/mlx5_0:1/port_xmit_wait"}) {
    EXPECT_EQ(said(congestion, counted(name, 1, 4)).size(), 1U) << name;
    EXPECT_EQ(said(error_counters, counted(name, 1, 4)), Said());
  }
  EXPECT_EQ(said(congestion, made_run()), Said());
}

TEST(LogFull, SaysHowManyTransfersHadNoRoom) {
  auto result = made_run();
  result.cases = {made_case(8, {"shm"})};
  for (const int dropped : {0, 7, 5}) {
    LaunchRecord record;
    record.workload = {{"exchange", {{"transfers_dropped", dropped}}}};
    result.cases[0].launches.push_back(record);
    EXPECT_EQ(said(log_full, result).size(), dropped == 0 ? 0U : 1U);
  }
  EXPECT_NE(said(log_full, result)[0].find(": 12 transfers had no room"), std::string::npos);
}

TEST(UcxWarningsRule, RepeatsWhatUcxSays) {
  auto result = made_run();
  EXPECT_EQ(said(ucx_warnings, result), Said());
  result.ucx["warnings"] =
      Json::array({{{"line", "WARN no eth7"}, {"count", 1}, {"ranks", {1}}},
                   {{"line", "ERROR send() failed"}, {"count", 7}, {"ranks", {0, 3}}}});
  EXPECT_EQ(said(ucx_warnings, result), (Said{"UCX in rank 1: WARN no eth7",
                                              "UCX in ranks 0, 3: 7 times: ERROR send() failed"}));
  result.ucx["warnings"] = Json::array({nullptr, {{"line", 3}}});
  EXPECT_EQ(said(ucx_warnings, result), Said());
}

TEST(UcxWarningsRule, LeavesOneCauseToItsOwnRule) {
  auto result = made_run();
  result.ucx["warnings"] = Json::array();
  for (const auto* line :
       {"ERROR mm_iface failed to allocate receive FIFO",
        "ERROR Not enough memory to write total of 4292720 bytes. Please check that /dev/shm or "
        "the directory you specified has more available memory.",
        "ERROR failed to allocate 4292720 bytes using md posix for mm_recv_desc: Out of memory",
        "ERROR Failed to allocate memory pool (name=mm_recv_desc) chunk: Out of memory",
        "ERROR failed to get the first receive descriptor"}) {
    result.ucx["warnings"].push_back({{"line", line}, {"count", 1}, {"ranks", {0, 1}}});
  }
  EXPECT_EQ(said(ucx_warnings, result).size(), 5U);
  result.machine["hosts"][0]["shm_bytes"] = 1U << 20U;
  EXPECT_EQ(said(small_shm, result).size(), 1U);
  EXPECT_EQ(said(ucx_warnings, result), Said());
}

}  // namespace
}  // namespace ucxbench
