#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/comm/address.hpp"
#include "harness/core/fd.hpp"
#include "harness/launch/rendezvous.hpp"

// How two ranks get a stream socket: one listens, the rendezvous carries where, the other connects
// and says who it is. Sockets are non-blocking; a Unix socket within a host if there may be one,
// else TCP on the addresses of --net-devices.

namespace ucxbench {

/// Which sockets there may be.
struct SocketWays {
  bool by_unix = false, by_tcp = false;
  std::string net_devices{};  ///< as UCX_NET_DEVICES, which goes before it

  /// As the members of a transport set say.
  static SocketWays of(const std::vector<std::string>& transports, std::string net_devices);
};

/// Where a rank listens.
struct SocketCard {
  std::array<std::uint8_t, 16> secret{};  ///< whoever connects without it is sent away
  std::string host;                       ///< equal of ranks that reach each other by Unix sockets
  Address tcp;
  std::string unix_name;  ///< without the leading null byte

  Rendezvous::Bytes bytes() const;
  static SocketCard of(const Rendezvous::Bytes& bytes);
};

/// Listens for other ranks of the launch. Its constructor throws Failure(Exit::cannot_run).
class SocketListener {
 public:
  /// For at most `callers`.
  SocketListener(const SocketWays& ways, int rank, int callers);

  const SocketCard& card() const { return card_; }
  /// Can be read when look() may have something to do.
  int fd() const { return epoll_.get(); }

  struct Caller {
    int rank;
    Fd socket;
  };
  /// Those who have come since, without waiting.
  std::vector<Caller> look();

 private:
  struct Hello {
    std::array<std::uint8_t, 16> secret{};
    std::int32_t rank = 0;
  };
  struct Incoming {
    Fd socket;
    std::string source;
    Hello hello;
    std::size_t bytes = 0;
  };
  friend class SocketConnector;

  void listen_by_tcp(const SocketWays& ways);
  void listen_by_unix(int rank);
  void listen_on(Fd socket, const sockaddr* address, socklen_t length, const std::string& where);
  void watch(int fd);
  std::optional<Caller> greeted(Incoming& from);

  int callers_;
  SocketCard card_;
  Fd epoll_;
  std::vector<Fd> listeners_;
  std::vector<Incoming> incoming_;  ///< the oldest first
};

/// Connects to a rank that listens.
class SocketConnector {
 public:
  /// Throws Failure(Exit::cannot_run), also where none of the ways leads there.
  SocketConnector(const SocketWays& ways, int rank, int other, SocketCard card);

  int other() const { return other_; }
  int fd() const { return socket_.get(); }
  /// The socket when it is connected, without waiting. Throws Failure(Exit::lost).
  std::optional<Fd> connected();

 private:
  int rank_, other_;
  SocketCard card_;
  bool by_unix_;
  Fd socket_;
};

/// A socket to `peer`, which calls it too, with the other value of `connects`. Only the side that
/// connects sends anything. `name` is of this pair and connection alone.
Fd connect_socket(const SocketWays& ways, bool connects, Rendezvous& rendezvous, int peer,
                  const std::string& name, const Rendezvous::Progress& progress);

/// "tcp/lo" or "unix/socket", as a connected socket itself says.
std::string lane_of_socket(int fd);
/// Its options as the kernel has them: "sockets, tcp: TCP_NODELAY" → "1".
std::map<std::string, std::string> options_of_socket(int fd);

}  // namespace ucxbench
