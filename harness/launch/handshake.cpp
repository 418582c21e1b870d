#include "harness/launch/handshake.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/launch/channel.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* magic = "ucx-bench-control";
constexpr const char* protocol = "3";
constexpr std::size_t max_line_bytes = 512;  // of an unknown peer: little, and text only
constexpr std::size_t nonce_bytes = 32;

[[noreturn]] void refuse(const std::string& why) { throw Failure(Exit::cannot_run, why); }

[[noreturn]] void cut() {
  throw HandshakeCut(Exit::cannot_run, "the peer closed the connection during the handshake");
}

class Lines {
 public:
  Lines(int fd, std::chrono::milliseconds limit) : fd_(fd), deadline_(Clock::now() + limit) {}

  void write(const std::string& line) {
    const std::string text = line + "\n";
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
      cut();
    }
  }

  /// The blank-separated words of the next line. One byte at a time: nothing after the line may be
  /// taken off the stream, and the handshake is short.
  std::vector<std::string> read() {
    std::string line;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
      if (left.count() <= 0 || !wait_for(fd_, POLLIN, left))
        refuse("the peer says nothing: is it ucx-bench?");
      char c = 0;
      const ssize_t n = ::recv(fd_, &c, 1, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) cut();
      if (c == '\n') break;
      if (c < ' ' || c > '~' || line.size() == max_line_bytes) refuse("the peer is not ucx-bench");
      line += c;
    }
    std::istringstream stream(line);
    return {std::istream_iterator<std::string>(stream), {}};
  }

 private:
  int fd_;
  Clock::time_point deadline_;
};

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string fresh_nonce() {
  std::array<std::uint8_t, nonce_bytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    refuse("the system gives no random bytes for the handshake");
  }
  return hex(bytes);
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Of the nonces in the order listener, connector.
struct Nonces {
  std::string listener, connector;
};

/// `use` and `role` are in it so that no side can answer with the other's own proof, and that no
/// proof, which is sent, is a key.
Mac derived(const std::string& token, std::string_view use, Role role, const Nonces& nonces,
            const std::string& host) {
  return hmac(token, bytes_of(fmt::format("{} {} {} {} {} {}", magic, use,
                                          role == Role::listener ? "listener" : "connector",
                                          nonces.listener, nonces.connector, host)));
}

std::string proof(const std::string& token, Role role, const Nonces& nonces,
                  const std::string& host) {
  return hex(derived(token, "proof", role, nonces, host));
}

Seal seal_of(const std::string& token, Role sender, const Nonces& nonces) {
  const auto key = derived(token, "frames", sender, nonces, "");
  return Seal(std::string(key.begin(), key.end()));
}

void check_greeting(const std::vector<std::string>& words, const Identity& self) {
  if (words.size() != 5 || words[0] != magic) refuse("the peer is not ucx-bench");
  if (words[1] != protocol || words[2] != self.version || words[3] != self.commit) {
    refuse(fmt::format("the peer runs ucx-bench {} ({}), this side {} ({}): use the same build",
                       words[2], words[3], self.version, self.commit));
  }
}

}  // namespace

Greeted shake_hands(int fd, Role role, const Identity& self, const std::string& token,
                    std::chrono::milliseconds limit) {
  Lines lines(fd, limit);
  const bool listens = role == Role::listener;
  const std::string own_nonce = fresh_nonce();
  const std::string greeting =
      fmt::format("{} {} {} {} {}", magic, protocol, self.version, self.commit, own_nonce);

  // The listener says nothing to a program that it does not know. One of another version gets the
  // greeting, so that both sides can name both versions.
  if (!listens) lines.write(greeting);
  const auto heard = lines.read();
  if (listens && heard.size() == 5 && heard[0] == magic) lines.write(greeting);
  check_greeting(heard, self);
  const std::string& peer_nonce = heard[4];
  const Nonces nonces = listens ? Nonces{own_nonce, peer_nonce} : Nonces{peer_nonce, own_nonce};

  const auto prove = [&] {
    lines.write(fmt::format("proof {} {}", proof(token, role, nonces, self.host), self.host));
  };
  if (!listens) prove();
  const auto answer = lines.read();
  const Role peer_role = listens ? Role::connector : Role::listener;
  const bool known =
      answer.size() == 3 && answer[0] == "proof" &&
      same(bytes_of(answer[1]), bytes_of(proof(token, peer_role, nonces, answer[2])));
  if (!known) {
    if (listens) lines.write("refused");
    refuse("the peer has another token: both sides need the same token file or UCXBENCH_TOKEN");
  }
  if (listens) prove();
  return {answer[2], {seal_of(token, role, nonces), seal_of(token, peer_role, nonces)}};
}

}  // namespace ucxbench
