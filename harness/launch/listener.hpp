#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/core/fd.hpp"
#include "harness/launch/handshake.hpp"
#include "harness/launch/remote.hpp"

namespace ucxbench {

struct HostPort {
  std::string host;
  std::string port;
};

/// "HOST:PORT", "HOST", ":PORT", "[IPv6]:PORT" or "", completed by 127.0.0.1 and 13337.
/// Throws Failure(Exit::usage).
HostPort parse_host_port(std::string_view text);

/// As parse_host_port takes it: "10.0.0.1:13337", "[::1]:13337".
std::string in_words(const HostPort& endpoint);

/// Waits for the other hosts of a `--listen` / `--connect` run.
class Listener {
 public:
  /// Throws Failure(Exit::usage) when the port is in use or the address not this machine's.
  explicit Listener(const HostPort& endpoint);

  std::uint16_t port() const;

  /// The first `count` peers that prove themselves, in the order in which they came. Others are
  /// refused, and the waiting goes on; none keeps the others waiting. One that leaves before all
  /// are there is waited for again. Of each that comes, is refused or leaves, `say` gets one line.
  /// Throws Failure: Exit::cannot_run when not all came within `limit`.
  RemoteSupervisors gather(int count, const Identity& self, const std::string& token,
                           std::chrono::milliseconds limit,
                           const std::function<void(const std::string&)>& say);

 private:
  HostPort endpoint_;
  Fd socket_;
};

/// Connects to a listener, trying again for `limit` while nobody listens there, and tells it
/// `hello`, an object. Throws Failure: Exit::cannot_run (nobody, not ucx-bench, another version or
/// token).
std::unique_ptr<RemoteSupervisor> connect_to_listener(const HostPort& endpoint,
                                                      const Identity& self,
                                                      const std::string& token,
                                                      std::chrono::milliseconds limit,
                                                      const nlohmann::json& hello = {});

}  // namespace ucxbench
