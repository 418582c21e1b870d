#pragma once

#include <chrono>
#include <string>

namespace ucxbench {

/// Who this side is. No blanks in any of them.
struct Identity {
  std::string version;  ///< of ucx-bench
  std::string commit;
  std::string host;
};

enum class Role { listener, connector };

/// Makes sure that the other end of the connected socket is ucx-bench of the same build and knows
/// the token; returns its host name. The token proves itself by an HMAC over nonces of both sides
/// and is never sent. What follows on the connection is neither encrypted nor signed.
/// Throws Failure(Exit::cannot_run) with one line about the peer, within `limit`.
std::string shake_hands(int fd, Role role, const Identity& self, const std::string& token,
                        std::chrono::milliseconds limit = std::chrono::seconds(5));

}  // namespace ucxbench
