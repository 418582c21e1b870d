#pragma once

#include <chrono>
#include <string>

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

/// Makes sure that the other end of the connected socket is ucx-bench of the same build and knows
/// the token. The token proves itself by an HMAC over nonces of both sides and is not sent; so
/// are the keys of the seals made, one for each direction. Throws Failure(Exit::cannot_run) with
/// one line about the peer, within `limit`; a HandshakeCut is one.
Greeted shake_hands(int fd, Role role, const Identity& self, const std::string& token,
                    std::chrono::milliseconds limit = std::chrono::seconds(5));

}  // namespace ucxbench
