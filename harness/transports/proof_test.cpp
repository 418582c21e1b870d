#include "harness/transports/proof.hpp"

#include <gtest/gtest.h>

#include "harness/result/media.hpp"

namespace ucxbench {
namespace {

TEST(RequestInfo, OfTheNewProtocolEngine) {
  auto path = parse_request_info(
      "{cpml|proto} tag_send from host memory length 8 eager short sysv/memory 74.3 MB/s 0.10 us");
  EXPECT_EQ(path.protocol, "eager short");
  EXPECT_EQ(path.lanes, std::vector<std::string>{"sysv/memory"});
  path = parse_request_info(
      "{cpml|proto|init|rk_use} tag_send from host memory length 1048576 rendezvous zero-copy read "
      "from remote cma/memory 11087.1 MB/s 90.20 us");
  EXPECT_EQ(path.protocol, "rendezvous zero-copy read from remote");
  EXPECT_EQ(path.lanes, std::vector<std::string>{"cma/memory"});
  path = parse_request_info(
      "{proto} tag_send from cuda memory length 9 rendezvous 52% on tcp/lo and 48% on "
      "rc_mlx5/mlx5_0:1 "
      "1.0 MB/s 8.0 us");
  EXPECT_EQ(path.lanes, (std::vector<std::string>{"tcp/lo", "rc_mlx5/mlx5_0:1"}));
}

TEST(RequestInfo, SaysWhatUcxExpects) {
  const auto expected = [](const std::string& words) {
    return parse_request_info("{proto} tag_send from host memory length " + words).expected_us;
  };
  // 0.10 us is rounded more than 74.3 MiB/s, 12.0 MiB/s more than 83430.31 us.
  EXPECT_NEAR(expected("8 eager short sysv/memory 74.3 MB/s 0.10 us").value_or(0), 0.10268, 1e-5);
  EXPECT_EQ(expected("1048576 eager tcp/lo 12.0 MB/s 83430.31 us"), 83430.31);
  EXPECT_EQ(expected("8 eager short sysv/memory"), std::nullopt);
  EXPECT_EQ(expected("8 eager short sysv/memory 0.0 MB/s 0.00 us"), std::nullopt);
}

TEST(RequestInfo, OfTheOldProtocolEngine) {
  auto path = parse_request_info(
      "flags:0x4001 send length 8 NAME() lane[0]:  1:sysv/memory.0 md[1]           -> "
      "md[1]/sysv/sysdev[255] am am_bw#0host memory");
  EXPECT_EQ(path.protocol, "eager");
  EXPECT_EQ(path.lanes, std::vector<std::string>{"sysv/memory"});
  path = parse_request_info(
      "flags:0x44001 send length 65536 ucp_rndv_progress_rma_put_zcopy() lane[0]:  0:tcp/lo.0 "
      "md[0] "
      "-> md[0]/tcp/sysdev[255] rma_bw#0 am am_bw#0 wireuphost memory");
  EXPECT_EQ(path.protocol, "rendezvous, ucp_rndv_progress_rma_put_zcopy");
  EXPECT_EQ(path.lanes, std::vector<std::string>{"tcp/lo"});
  path = parse_request_info(
      "flags:0x44001 send length 65536 ucp_proto_progress_tag_rndv_rts() lane[0]:  1:sysv/memory.0 "
      "md[1] -> md[1]/sysv/sysdev[255] am am_bw#0host memory");
  EXPECT_EQ(path.protocol, "rendezvous, read by the receiver");
  EXPECT_TRUE(path.lanes.empty());
}

TEST(RequestInfo, OfNothingKnown) {
  EXPECT_TRUE(parse_request_info("").lanes.empty());
  EXPECT_TRUE(parse_request_info("something else a/b").lanes.empty());
}

Verdict judged(const char* set, const Evidence& evidence) {
  return judge(TransportSet::parse(set), evidence);
}

TEST(Judge, BelievesUcxWhenTheCountersAgree) {
  const auto verdict = judged("tcp,shm", {.lanes = {"sysv/memory", "cma/memory", "tcp/lo"},
                                          .path = {"eager", {"tcp/lo"}},
                                          .moved = {{"tcp/lo", 1100}},
                                          .payload_bytes = 1000});
  EXPECT_EQ(verdict.path, PathVerdict::as_asked);
  EXPECT_EQ(verdict.carried.at("tcp"), 1.0);
}

TEST(Judge, CatchesAnotherTransport) {
  const auto verdict = judged(
      "ib", {.lanes = {"tcp/lo"}, .path = {}, .moved = {{"tcp/lo", 1100}}, .payload_bytes = 1000});
  EXPECT_EQ(verdict.path, PathVerdict::other);
  EXPECT_EQ(verdict.carried.at("tcp"), 1.0);
}

TEST(Judge, SeesThatStagingWentOverTheNetwork) {
  // A cuda_ipc lane is configured, the handle could not be opened, and tcp carried all.
  const Evidence staged = {.lanes = {"tcp/lo", "cuda_ipc/cuda"},
                           .path = {"rendezvous, read by the receiver", {}},
                           .moved = {{"tcp/lo", 1 << 20}},
                           .payload_bytes = 1 << 20};
  EXPECT_EQ(judged("nvlink", staged).path, PathVerdict::other);
  EXPECT_EQ(judged("tcp,nvlink", staged).path, PathVerdict::as_asked);
  EXPECT_EQ(judged("tcp,nvlink", staged).carried.at("tcp"), 1.0);
}

TEST(Judge, GivesWhatNoCounterSawToTheOneLaneWithoutACounter) {
  const Evidence direct = {.lanes = {"tcp/lo", "cuda_ipc/cuda"},
                           .path = {"rendezvous, read by the receiver", {}},
                           .moved = {{"tcp/lo", 1000}},
                           .payload_bytes = 1 << 20};
  EXPECT_EQ(judged("tcp,nvlink", direct).carried.at("nvlink"), 1.0);
  auto two = direct;
  two.lanes.push_back("cma/memory");
  EXPECT_EQ(judged("shm,tcp,nvlink", two).path, PathVerdict::unknown);
  EXPECT_NE(judged("shm,tcp,nvlink", two).why.find("cuda_ipc or shm"), std::string::npos);
}

TEST(Judge, CallsAnEliminationSo) {
  const Evidence left = {.lanes = {"tcp/lo", "cuda_ipc/cuda"},
                         .path = {},
                         .moved = {{"nvlink/GPU0", 0}, {"tcp/lo", 1000}},
                         .payload_bytes = 1 << 20};
  const auto verdict = judged("tcp,nvlink", left);
  EXPECT_EQ(verdict.proof, Proof::eliminated);
  EXPECT_EQ(verdict.eliminated, "nvlink");
  EXPECT_EQ(verdict.why,
            "by elimination: cuda_ipc 100 %, as counters did not see 100 % of the bytes and no "
            "lane but cuda_ipc is left");
  auto counted = left;
  counted.moved["nvlink/GPU0"] = 1 << 20;
  EXPECT_EQ(judged("tcp,nvlink", counted).proof, Proof::counted);
  EXPECT_EQ(judged("tcp,nvlink", counted).why, "counters: cuda_ipc 100 %");
  counted.path = {"zero-copy", {"cuda_ipc/cuda"}};
  EXPECT_EQ(judged("tcp,nvlink", counted).proof, Proof::told_and_counted);
  const Evidence by_shm = {.lanes = {"tcp/lo", "cma/memory"},
                           .path = {},
                           .moved = {{"tcp/lo", 0}},
                           .payload_bytes = 1 << 20};
  EXPECT_EQ(judged("tcp,shm", by_shm).proof, Proof::eliminated);
  EXPECT_EQ(judged("tcp,shm", by_shm).eliminated, "shm");
}

TEST(Judge, ProvesInfinibandByItsCountersOrLanesOnly) {
  const Evidence counted = {.lanes = {"tcp/eth0", "rc_mlx5/mlx5_0:1"},
                            .path = {},
                            .moved = {{"ib/mlx5_0:1", 1000}, {"tcp/eth0", 0}},
                            .payload_bytes = 1000};
  EXPECT_EQ(judged("tcp,ib", counted).proof, Proof::counted);
  auto still = counted;
  still.moved["ib/mlx5_0:1"] = 0;
  EXPECT_EQ(judged("tcp,ib", still).proof, Proof::ambiguous) << "it has a counter, which denies it";
  auto without = counted;
  without.moved.erase("ib/mlx5_0:1");
  EXPECT_EQ(judged("tcp,ib", without).eliminated, "ib") << "no counter, as of a virtual function";
  without.path = {"rendezvous", {"rc_mlx5/mlx5_0:1"}};
  EXPECT_EQ(judged("tcp,ib", without).proof, Proof::told);
}

TEST(Judge, TakesNoControlMessagesForPayload) {
  // As p2p with GPU memory had it on an H200: the request and the acknowledgement go by tcp.
  const auto of = [](std::uint64_t message_bytes, std::uint64_t by_tcp) {
    return judged("tcp,nvlink", {.lanes = {"tcp/lo", "cuda_ipc/cuda"},
                                 .path = {},
                                 .moved = {{"tcp/lo", by_tcp}},
                                 .payload_bytes = 1 << 19,
                                 .message_bytes = static_cast<double>(message_bytes)})
        .carried;
  };
  const std::map<std::string, double> all_by_nvlink = {{"nvlink", 1.0}};
  EXPECT_EQ(of(2048, 98'266), all_by_nvlink);
  EXPECT_EQ(of(4096, 89'309), all_by_nvlink);
  // More than a rendezvous has to say, as much as the payload, and messages of unequal sizes.
  EXPECT_EQ(of(1 << 19, 262'144), (std::map<std::string, double>{{"nvlink", 0.5}, {"tcp", 0.5}}));
  EXPECT_EQ(of(512, 617'618), (std::map<std::string, double>{{"tcp", 1.0}}));
  EXPECT_EQ(of(0, 131'072), (std::map<std::string, double>{{"nvlink", 0.75}, {"tcp", 0.25}}));
}

TEST(Judge, CannotTellControlMessagesFromSmallOnesOfSeveralPairs) {
  // As halo with four ranks had it there: pairs that use tcp would look the same.
  const auto verdict = judged("tcp,nvlink", {.lanes = {"tcp/lo", "cuda_ipc/cuda"},
                                             .path = {},
                                             .moved = {{"tcp/lo", 364'552}},
                                             .payload_bytes = 983'040,
                                             .message_bytes = 2048,
                                             .alike = false});
  EXPECT_EQ(verdict.path, PathVerdict::unknown);
  EXPECT_TRUE(verdict.why.starts_with("tcp's counters saw 759 B for each message of 2048 B"))
      << verdict.why;
}

TEST(Judge, SaysPartly) {
  const auto verdict = judged("ib", {.lanes = {"tcp/eth0", "rc_mlx5/mlx5_0:1"},
                                     .path = {},
                                     .moved = {{"tcp/eth0", 400}, {"ib/mlx5_0:1", 600}},
                                     .payload_bytes = 1000});
  EXPECT_EQ(verdict.path, PathVerdict::partly);
  EXPECT_NEAR(verdict.carried.at("ib"), 0.6, 1e-9);
}

TEST(Judge, DoesNotBelieveWhatTheCountersDeny) {
  const auto verdict = judged(
      "tcp",
      {.lanes = {"tcp/lo"}, .path = {"eager", {"tcp/lo"}}, .moved = {}, .payload_bytes = 1000});
  EXPECT_EQ(verdict.path, PathVerdict::unknown);
  EXPECT_TRUE(verdict.carried.empty());
}

TEST(Judge, NeedsNoCounterWhereOnlyOneLaneCan) {
  EXPECT_EQ(judged("shm", {.lanes = {"sysv/memory", "cma/memory"}, .path = {}, .moved = {}}).path,
            PathVerdict::as_asked);
  EXPECT_EQ(judged("ib", {.lanes = {"rc_verbs/rxe0:1", "ud_verbs/rxe0:1"}, .path = {}, .moved = {}})
                .carried.at("ib"),
            1.0);
  EXPECT_EQ(judged("shm,tcp", {.lanes = {"sysv/memory", "tcp/lo"}, .path = {}, .moved = {}}).path,
            PathVerdict::unknown);
}

TEST(Judge, NamesMembersThatGotNoLane) {
  const auto verdict = judged("shm,tcp", {.lanes = {"sysv/memory"}, .path = {}, .moved = {}});
  EXPECT_EQ(verdict.path, PathVerdict::as_asked);
  EXPECT_EQ(verdict.why,
            "only one configured lane can carry payload; UCX configured no lane for tcp");
}

TEST(Require, AddsTheMembersUp) {
  const std::map<std::string, double> carried = {{"tcp", 0.3}, {"ib", 0.7}};
  EXPECT_NEAR(share_by(TransportSet::parse("ib").members(), carried), 0.7, 1e-9);
  EXPECT_NEAR(share_by(TransportSet::parse("tcp,ib").members(), carried), 1.0, 1e-9);
  EXPECT_EQ(share_by(TransportSet::parse("nvlink").members(), carried), 0.0);
}

TEST(NetDev, ReadsTransmittedBytes) {
  const auto bytes = parse_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
      "    lo: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"
      "  eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  EXPECT_EQ(bytes, (std::map<std::string, std::uint64_t>{{"lo", 200}, {"eth0", 9}}));
  EXPECT_TRUE(parse_net_dev("lo: 1 2").empty());
}

TEST(Counters, OfThisMachineOnlyGrow) {
  const auto before = read_counters();
  ASSERT_TRUE(before.contains("tcp/lo"));
  EXPECT_EQ(moved({{"tcp/lo", 5}, {"tcp/a", 3}}, {{"tcp/lo", 9}, {"tcp/a", 3}, {"tcp/b", 1}}),
            (Counters{{"tcp/a", 0}, {"tcp/lo", 4}}));
}

TEST(RoceMtu, IsTheKernels) {
  EXPECT_EQ(roce_mtu(1500), 1024U);
  EXPECT_EQ(roce_mtu(9000), 4096U);
  EXPECT_EQ(roce_mtu(65535), 4096U);
}

}  // namespace
}  // namespace ucxbench
