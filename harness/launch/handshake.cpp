#include "harness/launch/handshake.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <span>
#include <sstream>
#include <utility>

#include "harness/core/text.hpp"
#include "harness/launch/channel.hpp"

namespace ucxbench {
namespace {

constexpr const char* magic = "ucx-bench-control";
constexpr const char* protocol = "4";
constexpr std::size_t max_line_bytes = 512;  // of an unknown peer: little, and text only
constexpr std::size_t nonce_bytes = 32;
constexpr std::size_t greeting_words = 5;
// For who waits: a peer's next byte ends it early.
constexpr std::chrono::milliseconds handshake_tick{100};

[[noreturn]] void refuse_peer(const std::string& why) { throw Failure(Exit::cannot_run, why); }

[[noreturn]] void cut() {
  throw HandshakeCut(Exit::cannot_run, "the peer closed the connection during the handshake");
}

std::string fresh_nonce() {
  std::array<std::uint8_t, nonce_bytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    refuse_peer("the system gives no random bytes for the handshake");
  }
  return hex_text(bytes);
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Role other_role(Role role) { return role == Role::listener ? Role::connector : Role::listener; }

void check_greeting(const std::vector<std::string>& words, const Identity& self) {
  if (words.size() != greeting_words || words[0] != magic) refuse_peer("the peer is not ucx-bench");
  if (words[1] != protocol || words[2] != self.version || words[3] != self.commit) {
    refuse_peer(
        fmt::format("the peer runs ucx-bench {} ({}), this side {} ({}): use the same build",
                    words[2], words[3], self.version, self.commit));
  }
}

}  // namespace

Handshake::Handshake(int fd, Role role, Identity self, std::string token,
                     std::chrono::milliseconds limit)
    : fd_(fd),
      role_(role),
      self_(std::move(self)),
      token_(std::move(token)),
      deadline_(Clock::now() + limit),
      own_nonce_(fresh_nonce()) {
  if (role == Role::connector) write(greeting());
}

std::optional<Greeted> Handshake::go_on() {
  while (const auto words = next_line()) {
    if (nonces_) return take_proof(*words);
    take_greeting(*words);
  }
  if (Clock::now() >= deadline_) refuse_peer("the peer says nothing: is it ucx-bench?");
  return std::nullopt;
}

void Handshake::write(const std::string& line) const {
  const std::string text = line + "\n";
  if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(text.size())) {
    cut();
  }
}

/// Its words. One byte at a time: nothing after the line may be taken off the stream, and the
/// handshake is short.
std::optional<std::vector<std::string>> Handshake::next_line() {
  for (;;) {
    char c = 0;
    const ssize_t n = ::recv(fd_, &c, 1, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    if (n <= 0) cut();
    if (c == '\n') break;
    if (c < ' ' || c > '~' || line_.size() == max_line_bytes) {
      refuse_peer("the peer is not ucx-bench");
    }
    line_ += c;
  }
  std::istringstream stream(std::exchange(line_, {}));
  return std::vector<std::string>{std::istream_iterator<std::string>(stream), {}};
}

std::string Handshake::greeting() const {
  return fmt::format("{} {} {} {} {}", magic, protocol, self_.version, self_.commit, own_nonce_);
}

// The listener says nothing to a program that it does not know. One of another version gets the
// greeting, so that both sides can name both versions.
void Handshake::take_greeting(const std::vector<std::string>& words) {
  const bool listens = role_ == Role::listener;
  if (listens && words.size() == greeting_words && words[0] == magic) write(greeting());
  check_greeting(words, self_);
  const auto& peer_nonce = words[4];
  nonces_ = listens ? Nonces{own_nonce_, peer_nonce} : Nonces{peer_nonce, own_nonce_};
  if (!listens) prove();
}

Greeted Handshake::take_proof(const std::vector<std::string>& words) const {
  const bool listens = role_ == Role::listener;
  const auto peer = other_role(role_);
  const bool known = words.size() == 3 && words[0] == "proof" &&
                     same(bytes_of(words[1]), bytes_of(hex_text(derived("proof", peer, words[2]))));
  if (!known) {
    if (listens) write("refused");
    refuse_peer(
        "the peer has another token (both sides need the same token file or UCXBENCH_TOKEN), or "
        "somebody on the way changed what it said");
  }
  if (listens) prove();
  return {words[2], {seal_of(role_), seal_of(peer)}};
}

void Handshake::prove() const {
  write(fmt::format("proof {} {}", hex_text(derived("proof", role_, self_.host)), self_.host));
}

/// `use` and `role` are in it so that no side can answer with the other's own proof, and that no
/// proof, which is sent, is a key.
Mac Handshake::derived(std::string_view use, Role role, const std::string& host) const {
  return hmac(token_, bytes_of(fmt::format("{} {} {} {} {} {}", magic, use,
                                           role == Role::listener ? "listener" : "connector",
                                           nonces_->listener, nonces_->connector, host)));
}

Seal Handshake::seal_of(Role sender) const {
  const auto key = derived("frames", sender, "");
  return Seal(std::string(key.begin(), key.end()));
}

Greeted shake_hands(int fd, Role role, const Identity& self, const std::string& token,
                    std::chrono::milliseconds limit) {
  Handshake handshake(fd, role, self, token, limit);
  for (;;) {
    if (auto greeted = handshake.go_on()) return std::move(*greeted);
    wait_for(fd, POLLIN, handshake_tick);
  }
}

}  // namespace ucxbench
