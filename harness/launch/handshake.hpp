#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/failure.hpp"
#include "harness/launch/seal.hpp"

namespace ucxbench {

/// Who this side is. No blanks in any of them.
struct Identity {
  std::string version;  ///< of ucx-bench
  std::string commit;
  std::string host;
};

enum class Role { listener, connector };

struct Greeted {
  std::string host;
  Seals seals;  ///< for what follows on the connection, which is not encrypted
};

/// The peer has ended the connection without saying why: it may have too many at once.
class HandshakeCut : public Failure {
 public:
  using Failure::Failure;
};

/// Makes sure that the other end of a connected socket is ucx-bench of the same build and knows the
/// token. The token proves itself by an HMAC over nonces of both sides and is not sent; so are the
/// keys of the seals made, one for each direction. All of it, with one line about the peer, throws
/// Failure(Exit::cannot_run); a HandshakeCut is one.
class Handshake {
 public:
  /// Begins. The peer has `limit` for all of it.
  Handshake(int fd, Role role, Identity self, std::string token,
            std::chrono::milliseconds limit = std::chrono::seconds(5));

  /// Takes what has come and answers, without waiting. The peer once it has proved itself.
  std::optional<Greeted> go_on();

 private:
  using Clock = std::chrono::steady_clock;
  /// Of the nonces in the order listener, connector.
  struct Nonces {
    std::string listener, connector;
  };

  void write(const std::string& line) const;
  std::optional<std::vector<std::string>> next_line();
  std::string greeting() const;
  void take_greeting(const std::vector<std::string>& words);
  Greeted take_proof(const std::vector<std::string>& words) const;
  void prove() const;
  Mac derived(std::string_view use, Role role, const std::string& host) const;
  Seal seal_of(Role sender) const;

  int fd_;
  Role role_;
  Identity self_;
  std::string token_;
  Clock::time_point deadline_;
  std::string own_nonce_;
  std::string line_;              ///< what has come of the next one
  std::optional<Nonces> nonces_;  ///< once the peer has greeted
};

/// The same, waiting for the peer.
Greeted shake_hands(int fd, Role role, const Identity& self, const std::string& token,
                    std::chrono::milliseconds limit = std::chrono::seconds(5));

}  // namespace ucxbench
