#include "harness/launch/channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct Pair {
  Pair() : Pair(make()) {}
  explicit Pair(std::array<int, 2> ends) : a(Fd(ends[0])), raw(ends[1]) {}
  static std::array<int, 2> make() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    return ends;
  }
  void write(const std::string& bytes) const {
    ASSERT_EQ(::send(raw.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  Channel a;
  Fd raw;
};

std::string bytes_of(const json& frame) {
  Pair pair;
  pair.a.send(frame);
  std::string bytes(4096, '\0');
  bytes.resize(static_cast<std::size_t>(::recv(pair.raw.get(), bytes.data(), bytes.size(), 0)));
  return bytes;
}

TEST(Channel, CarriesBinaryValuesBothWays) {
  Pair pair;
  Channel b(std::move(pair.raw));
  const json frame{{"type", "put"}, {"value", json::binary({0, 255, 10})}};
  pair.a.send(frame);
  b.send({{"type", "ok"}});
  EXPECT_EQ(b.receive(), frame);
  EXPECT_EQ(pair.a.receive()->at("type"), "ok");
  EXPECT_EQ(b.receive(), std::nullopt);
  EXPECT_FALSE(b.ended());
}

TEST(Channel, PutsFramesTogetherFromSingleBytes) {
  Pair pair;
  const std::string bytes = bytes_of({{"n", 1}}) + bytes_of({{"n", 2}});
  int seen = 0;
  for (const char byte : bytes) {
    pair.write(std::string(1, byte));
    const auto frame = pair.a.receive();
    if (!frame) continue;
    EXPECT_EQ(frame->at("n"), ++seen);
  }
  EXPECT_EQ(seen, 2);
}

TEST(Channel, PassesLargeFramesToASlowReader) {
  Pair pair;
  Channel b(std::move(pair.raw));
  const json frame{{"value", json::binary(std::vector<std::uint8_t>(std::size_t{16} << 20, 7))}};
  std::jthread sender([&] { pair.a.send(frame); });
  std::optional<json> got;
  while (!got) {
    ASSERT_TRUE(b.wait(60s));
    got = b.receive();
  }
  sender.join();
  EXPECT_EQ(got, frame);
}

TEST(Channel, ReportsTheEndAfterTheLastFrame) {
  Pair pair;
  pair.write(bytes_of({{"n", 1}}));
  pair.raw.reset();
  EXPECT_TRUE(pair.a.receive());
  EXPECT_FALSE(pair.a.receive());
  EXPECT_TRUE(pair.a.ended());
  EXPECT_THROW(pair.a.send({{"n", 2}}), Failure);
}

TEST(Channel, RefusesGarbageOversizeAndTruncation) {
  const std::array bad{std::string("\x03\0\0\0abc", 7), std::string("GET / HTTP/1.1\r\n"),
                       std::string("\x01\0\0\0\x05", 5), std::string("\0\0\0\0", 4),
                       std::string("\x09\0\0\0abc", 7)};
  for (const auto& bytes : bad) {
    Pair pair;
    pair.write(bytes);
    pair.raw.reset();
    EXPECT_THROW(pair.a.receive(), Failure) << bytes;
    EXPECT_TRUE(pair.a.ended());
  }
}

const Seals here{Seal("one way"), Seal("the other")};
const Seals there{Seal("the other"), Seal("one way")};

/// Frames 0, 1 and 2 of `here`, as they are on the way.
std::array<std::string, 3> on_the_way() {
  const auto ends = Pair::make();
  Channel sender(Fd{ends[0]}, here);
  const Fd raw(ends[1]);
  std::array<std::string, 3> frames;
  for (int n = 0; n < 3; ++n) {
    sender.send({{"n", n}});
    auto& bytes = frames.at(static_cast<std::size_t>(n));
    bytes.resize(4096);
    bytes.resize(static_cast<std::size_t>(::recv(raw.get(), bytes.data(), bytes.size(), 0)));
  }
  return frames;
}

/// The numbers of the frames that come through, and what becomes of the rest.
std::string taken(const std::string& bytes, const Seals& seals) {
  const auto ends = Pair::make();
  Channel reader(Fd{ends[0]}, seals);
  const Fd raw(ends[1]);
  EXPECT_EQ(::send(raw.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  std::string numbers;
  try {
    while (const auto frame = reader.receive()) numbers += frame->at("n").dump();
  } catch (const Failure& failure) {
    EXPECT_TRUE(reader.ended());
    EXPECT_NE(std::string(failure.what()).find("somebody on the way changed it"),
              std::string::npos);
    return numbers + " and a refusal";
  }
  return numbers;
}

TEST(Channel, WithSealsTakesOnlyTheOtherSidesNextFrame) {
  const auto [a, b, c] = on_the_way();
  EXPECT_EQ(taken(a + b + c, there), "012");
  EXPECT_EQ(taken(a + a, there), "0 and a refusal");
  EXPECT_EQ(taken(a + c, there), "0 and a refusal");
  EXPECT_EQ(taken(b + a, there), " and a refusal");
  EXPECT_EQ(taken(a, here), " and a refusal");  // sent back
  EXPECT_EQ(taken(bytes_of({{"n", 0}}) + std::string(40, '\0'), there), " and a refusal");
  // Also of the length, which nobody waits for then.
  for (std::size_t at = 0; at < b.size(); ++at) {
    auto changed = b;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_EQ(taken(a + changed, there), "0 and a refusal") << at;
  }
}

TEST(Channel, GivesUpOnAReaderThatTakesNothing) {
  Pair pair;
  const int few = 4096;  // by default a tuned host's socket takes it all
  ASSERT_EQ(::setsockopt(pair.a.fd(), SOL_SOCKET, SO_SNDBUF, &few, sizeof few), 0);
  const json frame{{"value", json::binary(std::vector<std::uint8_t>(std::size_t{8} << 20, 7))}};
  EXPECT_THROW(pair.a.send(frame, 50ms), Failure);
  EXPECT_THROW(pair.a.send({{"n", 1}}), Failure);  // never a second frame after half a one
  EXPECT_FALSE(pair.a.closed());
}

TEST(Channel, SaysThatTheOtherSideHasClosedWhenASendFindsIt) {
  Pair pair;
  EXPECT_FALSE(pair.a.closed());
  pair.raw = Fd();
  EXPECT_THROW(pair.a.send({{"n", 1}}), Failure);
  EXPECT_TRUE(pair.a.closed());
}

}  // namespace
}  // namespace ucxbench
