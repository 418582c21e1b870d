#include "harness/launch/handshake.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <sstream>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/launch/channel.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* magic = "ucx-bench-control";
constexpr const char* protocol = "1";
constexpr std::size_t max_line_bytes = 512;  // of an unknown peer: little, and text only
constexpr std::size_t nonce_bytes = 32;

[[noreturn]] void refuse(const std::string& why) { throw Failure(Exit::cannot_run, why); }

class Lines {
 public:
  Lines(int fd, std::chrono::milliseconds limit) : fd_(fd), deadline_(Clock::now() + limit) {}

  void write(const std::string& line) {
    const std::string text = line + "\n";
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
      refuse("the peer closed the connection during the handshake");
    }
  }

  /// The blank-separated words of the next line. One byte at a time: nothing after the line may be
  /// taken off the stream, and the handshake is short.
  std::vector<std::string> read() {
    std::string line;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
      if (left.count() <= 0 || !wait_for(fd_, POLLIN, left)) refuse("the peer stays silent");
      char c = 0;
      const ssize_t n = ::recv(fd_, &c, 1, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) refuse("the peer closed the connection during the handshake");
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

std::string hex(const std::uint8_t* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string fresh_nonce() {
  std::array<std::uint8_t, nonce_bytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    refuse("the system gives no random bytes for the handshake");
  }
  return hex(bytes.data(), bytes.size());
}

/// `role` is in it so that no side can answer with the other's own proof.
std::string proof(const std::string& token, Role role, const std::string& listener_nonce,
                  const std::string& connector_nonce, const std::string& host) {
  const std::string text =
      fmt::format("{} {} {} {} {}", magic, role == Role::listener ? "listener" : "connector",
                  listener_nonce, connector_nonce, host);
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
           &size) == nullptr) {
    refuse("cannot compute HMAC-SHA256");
  }
  return hex(digest.data(), size);
}

bool same(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void check_greeting(const std::vector<std::string>& words, const Identity& self) {
  if (words.size() != 5 || words[0] != magic) refuse("the peer is not ucx-bench");
  if (words[1] != protocol || words[2] != self.version || words[3] != self.commit) {
    refuse(fmt::format("the peer runs ucx-bench {} ({}), this side {} ({}): use the same build",
                       words[2], words[3], self.version, self.commit));
  }
}

}  // namespace

std::string shake_hands(int fd, Role role, const Identity& self, const std::string& token,
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
  const std::string& listener_nonce = listens ? own_nonce : peer_nonce;
  const std::string& connector_nonce = listens ? peer_nonce : own_nonce;

  const auto prove = [&] {
    lines.write(fmt::format(
        "proof {} {}", proof(token, role, listener_nonce, connector_nonce, self.host), self.host));
  };
  if (!listens) prove();
  const auto answer = lines.read();
  const Role other = listens ? Role::connector : Role::listener;
  const bool known =
      answer.size() == 3 && answer[0] == "proof" &&
      same(answer[1], proof(token, other, listener_nonce, connector_nonce, answer[2]));
  if (!known) {
    if (listens) lines.write("refused");
    refuse("the peer has another token: both sides need the same token file or UCXBENCH_TOKEN");
  }
  if (listens) prove();
  return answer[2];
}

}  // namespace ucxbench
