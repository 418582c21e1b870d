#include "workloads/replay/traffic.hpp"

#include <gtest/gtest.h>

#include "harness/core/refusal_for_test.hpp"

namespace ucxbench::replay {
namespace {

Transfer message(Transfer::Kind kind, int rank, int peer, std::uint64_t posted,
                 std::uint64_t completed, std::uint64_t label = 7, std::uint64_t bytes = 100) {
  return {.posted_ns = posted,
          .completed_ns = completed,
          .bytes = bytes,
          .label = label,
          .rank = static_cast<std::uint16_t>(rank),
          .peer = static_cast<std::uint16_t>(peer),
          .kind = kind};
}

Transfer sent(int rank, int peer, std::uint64_t posted, std::uint64_t completed,
              std::uint64_t label = 7) {
  return message(Transfer::send, rank, peer, posted, completed, label);
}

Transfer received(int rank, int peer, std::uint64_t posted, std::uint64_t completed,
                  std::uint64_t label = 7) {
  return message(Transfer::receive, rank, peer, posted, completed, label);
}

std::string refusal_of(std::vector<Script> ranks) {
  return refusal_by([&] { traffic_of("a.json", std::move(ranks), 0); });
}

TEST(Traffic, BeginsAtZero) {
  const auto traffic =
      traffic_of("runs/a b.json",
                 {{{sent(0, 1, 1100, 1300)}, 1400}, {{received(1, 0, 1050, 1250)}, 1600}}, 1000);
  EXPECT_EQ(traffic.ranks[0].messages[0].posted_ns, 100U);
  EXPECT_EQ(traffic.ranks[0].messages[0].completed_ns, 300U);
  EXPECT_EQ(traffic.ranks[1].messages[0].completed_ns, 250U);
  EXPECT_EQ(traffic.wall_ns, 600U);
  EXPECT_EQ(traffic.messages, 1U);
  EXPECT_EQ(traffic.bytes, 100U);
  EXPECT_TRUE(traffic.name.starts_with("a-b-")) << traffic.name;
}

TEST(Traffic, KnowsSizesAndTimesOfEachPair) {
  std::vector<Script> ranks(2);
  for (std::uint64_t at = 0; at < 100; ++at) {
    const auto ns = 10 * at + 10;
    ranks[0].messages.push_back(message(Transfer::send, 0, 1, ns, ns + 2, at, 1000 - at));
    ranks[1].messages.push_back(message(Transfer::receive, 1, 0, ns - 1, ns + 5, at, 1000 - at));
  }
  const auto pair = traffic_of("a.json", ranks, 0).pairs.at({0, 1});
  EXPECT_EQ(pair.size_at(0.5), 950U);
  EXPECT_EQ(pair.size_at(0.99), 999U);
  EXPECT_EQ(pair.size_at(0), 901U);
  EXPECT_DOUBLE_EQ(pair.timed.goodput_GBps(0.1).value_or(0), 190.1) << "95,050 bytes in 500 ns";
  ranks[1].clock = "another host's";
  EXPECT_FALSE(traffic_of("a.json", ranks, 0).pairs.at({0, 1}).timed.goodput_GBps(0.1));
}

TEST(Traffic, HasAnotherNameForEachContent) {
  const auto name = [](std::uint64_t end) {
    return traffic_of("a.json", {{{sent(0, 1, 1, 2)}, end}, {{received(1, 0, 1, 2)}, 3}}, 0).name;
  };
  EXPECT_EQ(name(3), name(3));
  EXPECT_NE(name(3), name(4));
}

// A label that comes again is the next message's.
TEST(Traffic, GivesBothEndsOneLabel) {
  const auto traffic = traffic_of("a.json",
                                  {{{sent(0, 1, 1, 9), sent(0, 1, 10, 19)}, 30},
                                   {{received(1, 0, 11, 20), received(1, 0, 2, 10)}, 30}},
                                  1);
  for (const auto& rank : traffic.ranks) {
    EXPECT_EQ(rank.messages[0].label, 0U);
    EXPECT_EQ(rank.messages[1].label, 1U);
  }
  EXPECT_EQ(traffic.ranks[1].messages[0].posted_ns, 1U);
}

// What the device had taken before anyone received it says nothing of another device; nor may a
// clock that is behind make a message arrive before it is sent.
TEST(Traffic, WaitsForNothingThatIsNotEarlier) {
  const auto traffic = traffic_of("a.json",
                                  {{{sent(0, 1, 100, 110), received(0, 1, 120, 130)}, 200},
                                   {{received(1, 0, 150, 160), sent(1, 0, 140, 145)}, 200}},
                                  100);
  EXPECT_EQ(traffic.ranks[0].messages[0].completed_ns, 0U);
  EXPECT_EQ(traffic.ranks[0].messages[1].completed_ns, 40U);
  EXPECT_EQ(traffic.ranks[1].messages[0].completed_ns, 45U);
}

TEST(Traffic, SaysWhatIsDamaged) {
  EXPECT_EQ(refusal_of({{{sent(0, 1, 1, 2)}, 9}, {{}, 9}}),
            "LOG 'a.json': rank 0 sent 1 message with label 7 to rank 1, which received 0: the log "
            "is damaged or was full");
  EXPECT_EQ(
      refusal_of({{{sent(0, 1, 1, 2)}, 9}, {{message(Transfer::receive, 1, 0, 1, 2, 7, 99)}, 9}}),
      "LOG 'a.json': a message from rank 0 to rank 1 has two lengths, or ended before it "
      "began: the log is damaged");
  EXPECT_EQ(refusal_of({{{sent(0, 1, 3, 2)}, 9}, {{received(1, 0, 1, 2)}, 9}}),
            "LOG 'a.json': a message from rank 0 to rank 1 has two lengths, or ended before it "
            "began: the log is damaged");
  EXPECT_EQ(refusal_of({{{}, 9}, {{}, 9}}), "LOG 'a.json': it has no messages");
  EXPECT_EQ(
      refusal_of({{{sent(0, 1, 1, 2)}, std::uint64_t{1} << 62U}, {{received(1, 0, 1, 2)}, 9}}),
      "LOG 'a.json': a run of 4.61e+09 s; expected at most 1e+06 s");
}

TEST(Order, WaitsForWhatHadEnded) {
  // Two receives at once, in the other order; then a send, which nobody waits for, and one more.
  const Script script{
      {received(0, 1, 0, 80), received(0, 1, 5, 50), sent(0, 1, 60, 0), sent(0, 1, 100, 120)}, 150};
  const auto order = order_of(script);
  EXPECT_EQ(order.ends, (std::vector<std::size_t>{1, 0, 3}));
  EXPECT_EQ(order.after, (std::vector<std::size_t>{0, 0, 1, 2}));
  EXPECT_EQ(order.gaps_ns, (std::vector<std::uint64_t>{0, 5, 10, 20, 30}));
}

// Else it might wait for itself.
TEST(Order, DoesNotWaitForWhatEndsAtThatMoment) {
  const Script script{{received(0, 1, 0, 40), sent(0, 1, 40, 60)}, 60};
  EXPECT_EQ(order_of(script).after, (std::vector<std::size_t>{0, 0}));
}

TEST(ReadTraffic, NeedsALog) {
  EXPECT_EQ(refusal_by([] { read_traffic("", ""); }),
            "LOG: give the run file of a workload, or a dump of Dask's transfer_incoming_log");
  EXPECT_EQ(refusal_by([] { read_traffic("a.transfers.bin", ""); }),
            "LOG 'a.transfers.bin': give the run file that this log belongs to");
}

}  // namespace
}  // namespace ucxbench::replay
