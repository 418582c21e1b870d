#include "harness/comm/socket_link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/comm/meeting_for_test.hpp"
#include "harness/comm/sockets.hpp"

namespace ucxbench {
namespace {

static_assert(MessageLink<SocketLink<SocketMessages::framed, SocketPolls>>);

using Bytes = std::vector<std::byte>;

Bytes numbered(std::size_t size, std::size_t seed) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed);
  return bytes;
}

/// Two ends of a connection, each in a thread of its own.
struct Ends {
  Meeting meeting;
  Fd lead, follow;

  explicit Ends(const std::string& member) {
    const auto ways = SocketWays::of({member}, "lo");
    auto other = std::async(std::launch::async, [&] {
      MeetingRank rendezvous(meeting, 1, 2);
      return connect_socket(ways, false, rendezvous, 0, "test", [] {});
    });
    MeetingRank rendezvous(meeting, 0, 2);
    lead = connect_socket(ways, true, rendezvous, 1, "test", [] {});
    follow = other.get();
  }
};

template <typename L>
void play(const std::string& member, std::size_t bytes, int window, int count) {
  Ends ends(member);
  auto sent = numbered(bytes, 3);
  auto other = std::async(std::launch::async, [&] {
    L link(ends.follow.get(), 0);
    Bytes received(bytes);
    link.use({.send = nullptr, .receive = received.data(), .bytes = bytes, .window = window});
    link.await_signal();
    for (int i = 0; i < count; ++i) {
      link.receive();
      if (i == count / 2) link.wait_receives();
    }
    link.wait_receives();
    link.signal();
    return received;
  });
  L link(ends.lead.get(), 1);
  link.use({.send = sent.data(), .receive = nullptr, .bytes = bytes, .window = window});
  link.signal();
  for (int i = 0; i < count; ++i) link.send();
  link.wait_sends();
  link.await_signal();
  EXPECT_EQ(other.get(), sent);
}

template <typename L>
class SocketLinks : public testing::Test {};
using Links = testing::Types<SocketLink<SocketMessages::framed, SocketPolls>,
                             SocketLink<SocketMessages::framed, SocketSleeps>,
                             SocketLink<SocketMessages::bare, SocketPolls>,
                             SocketLink<SocketMessages::bare, SocketSleeps>>;
TYPED_TEST_SUITE(SocketLinks, Links);

// Few and many at once, more than a call takes, and more than the kernel keeps.
TYPED_TEST(SocketLinks, TakeEachMessageInItsTurn) {
  for (const auto* member : {"tcp", "shm"}) {
    play<TypeParam>(member, 8, 1, 10);
    play<TypeParam>(member, 8, 200, 1000);
    play<TypeParam>(member, 100'003, 7, 200);
    play<TypeParam>(member, 9'000'001, 2, 3);
  }
}

TYPED_TEST(SocketLinks, MoveBothWaysAtOnce) {
  Ends ends("tcp");
  constexpr std::size_t bytes = 3'000'001;
  const auto both_ways = [&](int fd, std::size_t seed) {
    TypeParam link(fd, 0);
    auto sent = numbered(bytes, seed);
    Bytes received(bytes);
    link.use({.send = sent.data(), .receive = received.data(), .bytes = bytes, .window = 4});
    int sends = 0;
    int receives = 0;
    while (sends < 20 || receives < 20) {
      link.until(
          [&] { return (sends < 20 && link.can_send()) || (receives < 20 && link.can_receive()); });
      if (receives < 20 && link.can_receive()) {
        link.start_receive();
        ++receives;
      }
      if (sends < 20 && link.can_send()) {
        link.send();
        ++sends;
      }
    }
    link.wait_receives();
    link.wait_sends();
    return received;
  };
  auto other = std::async(std::launch::async, [&] { return both_ways(ends.follow.get(), 1); });
  EXPECT_EQ(both_ways(ends.lead.get(), 2), numbered(bytes, 1));
  EXPECT_EQ(other.get(), numbered(bytes, 2));
}

TYPED_TEST(SocketLinks, SayThatTheOtherSideHasEnded) {
  Ends ends("shm");
  TypeParam link(ends.lead.get(), 1);
  Bytes bytes(8);
  link.use({.send = bytes.data(), .receive = bytes.data(), .bytes = bytes.size()});
  ends.follow.reset();
  link.receive();
  try {
    link.wait_receives();
    FAIL() << "received something";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::lost);
    EXPECT_STREQ(failure.what(), "the connection with rank 1 has ended");
  }
}

TEST(FramedSocketLink, RefusesAnotherLength) {
  Ends ends("tcp");
  using Framed = SocketLink<SocketMessages::framed, SocketSleeps>;
  Framed lead(ends.lead.get(), 1);
  Framed follow(ends.follow.get(), 0);
  Bytes sent(8);
  Bytes received(9);
  lead.use({.send = sent.data(), .receive = nullptr, .bytes = 8});
  follow.use({.send = nullptr, .receive = received.data(), .bytes = 9});
  lead.send();
  follow.receive();
  try {
    follow.wait_receives();
    FAIL() << "took it";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::wrong_data);
  }
}

// Of a message the header may come in two parts.
TEST(FramedSocketLink, WaitsForAWholeHeader) {
  Ends ends("shm");
  SocketLink<SocketMessages::framed, SocketSleeps> follow(ends.follow.get(), 0);
  Bytes received(4);
  follow.use({.send = nullptr, .receive = received.data(), .bytes = 4, .window = 4});
  const std::vector<std::uint64_t> words = {1, 4};  // label, length
  Bytes stream;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto header = std::as_bytes(std::span(words));
    stream.insert(stream.end(), header.begin(), header.end());
    const auto payload = numbered(4, i);
    stream.insert(stream.end(), payload.begin(), payload.end());
  }
  for (int i = 0; i < 3; ++i) follow.receive();
  for (std::size_t at = 0; at < stream.size(); at += 11) {
    const auto part = std::min<std::size_t>(11, stream.size() - at);
    ASSERT_EQ(::send(ends.lead.get(), &stream[at], part, 0), static_cast<ssize_t>(part));
    follow.turn();
  }
  follow.wait_receives();
  EXPECT_EQ(received, numbered(4, 2));
}

TEST(SocketListener, SendsUnknownClientsAway) {
  SocketListener listener(SocketWays::of({"tcp"}, "lo"), 0, 2);
  auto card = listener.card();
  SocketConnector right(SocketWays::of({"tcp"}, "lo"), 1, 0, card);
  card.secret[0] ^= 1;
  SocketConnector wrong(SocketWays::of({"tcp"}, "lo"), 2, 0, card);
  std::optional<Fd> of_right;
  std::optional<Fd> of_wrong;
  std::vector<SocketListener::Caller> callers;
  while (!of_right || !of_wrong) {
    if (!of_wrong) of_wrong = wrong.connected();
    if (!of_right) of_right = right.connected();
  }
  std::byte byte{};
  const auto sent_away = [&] {
    return ::recv(of_wrong->get(), &byte, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET;
  };
  bool gone = false;
  while (callers.empty() || !gone) {
    for (auto& caller : listener.look()) callers.push_back(std::move(caller));
    gone = gone || sent_away();
  }
  ASSERT_EQ(callers.size(), 1U);
  EXPECT_EQ(callers[0].rank, 1);
}

}  // namespace
}  // namespace ucxbench
