#include "harness/comm/socket_peer.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <vector>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

using Bytes = std::vector<std::byte>;

struct Pair {
  Fd raw;
  SocketPeer peer{1};

  Pair() {
    std::array<int, 2> ends{};
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data());
    raw = Fd(ends[0]);
    peer.take(Fd(ends[1]));
  }
};

/// A message with its header, as it is on the way.
Bytes on_the_way(std::uint64_t label, const Bytes& content) {
  Pair pair;
  Batch batch{.in_flight = 1};
  Message message{.batch = &batch};
  pair.peer.send(label, content, message);
  Bytes bytes(4096);
  bytes.resize(static_cast<std::size_t>(::recv(pair.raw.get(), bytes.data(), bytes.size(), 0)));
  return bytes;
}

void take(const Bytes& bytes, bool expected) {
  Pair pair;
  Batch batch{.in_flight = 1};
  Message message{.batch = &batch};
  Bytes place(8);
  Bytes room(4096);
  if (expected) pair.peer.receive(3, place, message);
  ::send(pair.raw.get(), bytes.data(), bytes.size(), 0);
  pair.peer.step(room);
}

TEST(SocketPeer, RefusesEachDamagedHeaderInWords) {
  const auto whole = on_the_way(3, Bytes(8));
  constexpr std::size_t header_bits = 8 * 16;
  for (std::size_t bit = 0; bit < header_bits; ++bit) {
    for (const bool expected : {true, false}) {
      auto damaged = whole;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      try {
        take(damaged, expected);
        ADD_FAILURE() << "took bit " << bit;
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.exit(), Exit::wrong_data);
        EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
      }
    }
  }
  EXPECT_NO_THROW(take(whole, true));
  EXPECT_NO_THROW(take(whole, false));
}

}  // namespace
}  // namespace ucxbench
