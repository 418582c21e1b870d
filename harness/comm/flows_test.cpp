#include "harness/comm/flows.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "harness/comm/meeting_for_test.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench {
namespace {

constexpr int ranks = 3;
const Clock& clock_of_test() {
  static const Clock clock = Clock::calibrate();
  return clock;
}

/// Carries out `rank` on each of some threads that have a communicator.
void on_each(const std::function<void(Communicator&)>& rank) {
  ::setenv("UCX_TLS", "tcp", 1);
  ::setenv("UCX_NET_DEVICES", "lo", 1);
  Meeting meeting;
  std::vector<std::future<void>> all;
  for (int number = 0; number < ranks; ++number) {
    all.push_back(std::async(std::launch::async, [&meeting, &rank, number] {
      MeetingRank rendezvous(meeting, number, ranks);
      {
        Communicator comm(rendezvous, {.progress = ProgressMode::parse("event")});
        rank(comm);
        rendezvous.barrier([&] { comm.progress(); });
      }
      rendezvous.barrier([] {});
    }));
  }
  for (auto& each : all) each.get();
}

// Bytes from one rank to another, and how many messages: nothing to some.
struct Amount {
  std::size_t bytes;
  std::uint64_t messages;
};
Amount amount(int from, int to) {
  if (from == 0 && to == 2) return {0, 0};
  if (from == 1 && to == 0) return {100'000, 3};
  return {static_cast<std::size_t>(8 * (1 + from + 2 * to)), std::uint64_t{1} << (from + to)};
}
std::uint64_t seed(int from, int to) { return static_cast<std::uint64_t>(10 * from + to); }

TEST(Flows, CarryWhatAMatrixSays) {
  on_each([](Communicator& comm) {
    std::vector<std::vector<std::byte>> sent(ranks);
    std::vector<std::vector<std::byte>> places(ranks);
    std::vector<FlowTo> to;
    std::vector<FlowFrom> from;
    std::uint64_t expected = 0;
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == comm.rank()) continue;
      const auto at = static_cast<std::size_t>(peer);
      const auto out = amount(comm.rank(), peer);
      const auto in = amount(peer, comm.rank());
      sent[at].resize(out.bytes);
      fill_pattern(sent[at], seed(comm.rank(), peer));
      places[at].resize(in.bytes);
      to.push_back({peer, sent[at], out.messages});
      from.push_back({peer, places[at], in.messages});
      expected += in.messages;
    }
    Flows flows(comm, clock_of_test(), to, from, 2, 0);
    const auto began = clock_of_test().ticks();
    flows.finish();
    EXPECT_EQ(flows.came(), expected);
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_GE(flows.ended(i), began);
      EXPECT_FALSE(find_mismatch(places[static_cast<std::size_t>(from[i].rank)],
                                 seed(from[i].rank, comm.rank())))
          << from[i].rank;
    }
  });
}

TEST(Flows, AreOverWhereThereAreNone) {
  on_each([](Communicator& comm) {
    Flows flows(comm, clock_of_test(), {}, {}, 1, 0);
    EXPECT_TRUE(flows.over());
    EXPECT_EQ(flows.came(), 0U);
  });
}

}  // namespace
}  // namespace ucxbench
