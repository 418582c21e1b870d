#include "harness/launch/handshake.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <set>

#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"

namespace ucxbench {
namespace {

using namespace std::chrono_literals;

// More than any machine takes for one.
constexpr auto handshake_limit = 30s;

const Identity node1{"0.1.0", "abc", "node1"};
const Identity node2{"0.1.0", "abc", "node2"};

/// The peer's host, or why there is none.
std::string attempt(Fd fd, Role role, const Identity& self, const std::string& token,
                    std::chrono::milliseconds limit) {
  try {
    return shake_hands(fd.get(), role, self, token, limit).host;
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit(), Exit::cannot_run);
    return failure.what();
  }
}

std::array<Fd, 2> sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::array<std::string, 2> meet(const Identity& connector, const std::string& connector_token,
                                const Identity& listener, const std::string& listener_token) {
  auto [a, b] = sockets();
  auto listening = std::async(std::launch::async, attempt, std::move(a), Role::listener, listener,
                              listener_token, handshake_limit);
  auto connected =
      attempt(std::move(b), Role::connector, connector, connector_token, handshake_limit);
  return {connected, listening.get()};
}

/// What the listener or connector says to a peer that sends `bytes` and then closes or waits.
std::string against(Role role, const std::string& bytes, bool close,
                    std::chrono::milliseconds limit = handshake_limit) {
  auto [a, b] = sockets();
  EXPECT_EQ(::send(b.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  if (close) ::shutdown(b.get(), SHUT_WR);
  return attempt(std::move(a), role, node1, "secret-secret-secret", limit);
}

TEST(Handshake, NamesThePeerWhenTokensAgree) {
  EXPECT_EQ(meet(node1, "token", node2, "token"), (std::array<std::string, 2>{"node2", "node1"}));
}

TEST(Handshake, GivesBothSidesTheSameSealsAndNoOtherConnection) {
  std::set<Seal::Tag> all;
  for (int connection = 0; connection < 2; ++connection) {
    auto [a, b] = sockets();
    auto listening = std::async(std::launch::async, [fd = std::move(a)] {
      return shake_hands(fd.get(), Role::listener, node1, "token", handshake_limit);
    });
    auto connected = shake_hands(b.get(), Role::connector, node2, "token", handshake_limit).seals;
    auto listened = listening.get().seals;
    const auto up = connected.sent.next({});
    const auto down = connected.received.next({});
    EXPECT_EQ(listened.received.next({}), up);
    EXPECT_EQ(listened.sent.next({}), down);
    all.insert({up, down, connected.sent.next({})});
  }
  EXPECT_EQ(all.size(), 6U);
}

TEST(Handshake, RefusesAnotherTokenOnBothSides) {
  for (const auto& said : meet(node1, "token", node2, "other")) {
    EXPECT_EQ(said,
              "the peer has another token (both sides need the same token file or UCXBENCH_TOKEN), "
              "or somebody on the way changed what it said");
  }
}

TEST(Handshake, NamesBothBuildsWhenTheyDiffer) {
  const auto said = meet(node1, "token", {"0.2.0", "def", "node2"}, "token");
  EXPECT_EQ(said[0],
            "the peer runs ucx-bench 0.2.0 (def), this side 0.1.0 (abc): use the same build");
  EXPECT_EQ(said[1],
            "the peer runs ucx-bench 0.1.0 (abc), this side 0.2.0 (def): use the same build");
}

TEST(Handshake, RefusesForeignPrograms) {
  for (const Role role : {Role::listener, Role::connector}) {
    for (const auto& bytes : {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
                              std::string("HTTP/1.1 400 Bad Request\n"), std::string("\0\xff\n", 3),
                              std::string(600, 'x'), std::string("\n")}) {
      EXPECT_EQ(against(role, bytes, false), "the peer is not ucx-bench") << bytes;
    }
    EXPECT_EQ(against(role, "ucx-bench-control 1 0.1.0", true),
              "the peer closed the connection during the handshake");
    EXPECT_EQ(against(role, "ucx", false, 1s), "the peer says nothing: is it ucx-bench?");
  }
}

TEST(Handshake, RefusesAnInventedProof) {
  auto [a, b] = sockets();
  auto listening = std::async(std::launch::async, attempt, std::move(a), Role::listener, node1,
                              "token", handshake_limit);
  const std::string greeting = "ucx-bench-control 4 0.1.0 abc 00\nproof 00 node\n";
  ::send(b.get(), greeting.data(), greeting.size(), 0);
  EXPECT_NE(listening.get().find("another token"), std::string::npos);
}

}  // namespace
}  // namespace ucxbench
