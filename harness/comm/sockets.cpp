#include "harness/comm/sockets.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/strangers.hpp"
#include "harness/core/text.hpp"
#include "harness/result/transports.hpp"

namespace ucxbench {
namespace {

constexpr int buffer_bytes = 4 << 20;  // of a Unix socket; the kernel gives what it may
constexpr int stream_type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int look_again_ms = 10;  // others of this process's sockets may wait for progress

[[noreturn]] void throw_errno(Exit exit, const std::string& what) {
  throw Failure(exit, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Processes of which this is equal reach each other's Unix sockets without a name in a file
/// system.
std::string reach_of_unix_sockets() {
  std::error_code error;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", error);
  return first_line("/proc/sys/kernel/random/boot_id") + " " + network.string();
}

void set_option(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

// TCP's buffers grow by themselves, to more than a process may ask for.
void set_options(int fd, bool by_unix) {
  if (by_unix) {
    set_option(fd, SOL_SOCKET, SO_SNDBUF, buffer_bytes);
    set_option(fd, SOL_SOCKET, SO_RCVBUF, buffer_bytes);
  } else {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  }
}

std::string option_of(int fd, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  ::getsockopt(fd, level, option, &value, &length);
  return std::to_string(value);
}

Address address_of(int fd) {
  Address local;
  socklen_t length = sizeof local.storage;
  ::getsockname(fd, local.get(), &length);
  return local;
}

bool is_unix(const Address& address) { return address.storage.ss_family == AF_UNIX; }

std::pair<sockaddr_un, socklen_t> unix_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, &address.sun_path[1]);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

}  // namespace

SocketWays SocketWays::of(const std::vector<std::string>& transports, std::string net_devices) {
  return {.by_unix = may_use(transports, Fabric::shared_memory),
          .by_tcp = may_use(transports, Fabric::sockets),
          .net_devices = std::move(net_devices)};
}

Rendezvous::Bytes SocketCard::bytes() const {
  Rendezvous::Bytes all(secret.begin(), secret.end());
  for (const auto& part : {host, unix_name}) {
    all.push_back(static_cast<std::uint8_t>(part.size()));
    all.insert(all.end(), part.begin(), part.end());
  }
  const auto address = tcp.bytes();
  all.insert(all.end(), address.begin(), address.end());
  return all;
}

SocketCard SocketCard::of(const Rendezvous::Bytes& bytes) {
  SocketCard card;
  auto at = bytes.begin();
  std::copy_n(at, card.secret.size(), card.secret.begin());
  at += static_cast<std::ptrdiff_t>(card.secret.size());
  for (auto* part : {&card.host, &card.unix_name}) {
    const std::ptrdiff_t length = *at++;
    part->assign(at, at + length);
    at += length;
  }
  card.tcp = Address::from_bytes({at, bytes.end()});
  return card;
}

SocketListener::SocketListener(const SocketWays& ways, int rank, int callers)
    : callers_(callers), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw_errno(Exit::cannot_run, "epoll_create1");
  card_.host = reach_of_unix_sockets();
  if (::getrandom(card_.secret.data(), card_.secret.size(), 0) < 0) {
    throw_errno(Exit::cannot_run, "getrandom");
  }
  if (ways.by_tcp) listen_by_tcp(ways);
  if (ways.by_unix) listen_by_unix(rank);
}

void SocketListener::watch(int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw_errno(Exit::cannot_run, "epoll_ctl");
  }
}

void SocketListener::listen_on(Fd socket, const sockaddr* address, socklen_t length,
                               const std::string& where) {
  if (!socket) throw_errno(Exit::cannot_run, "a socket for " + where);
  if (::bind(socket.get(), address, length) != 0 || ::listen(socket.get(), callers_) != 0) {
    throw_errno(Exit::cannot_run, "listening on " + where);
  }
  watch(socket.get());
  listeners_.push_back(std::move(socket));
}

void SocketListener::listen_by_tcp(const SocketWays& ways) {
  std::vector<std::string> devices;
  // A host's own go before those that the case names for all.
  const char* own = std::getenv("UCX_NET_DEVICES");
  const std::string named = own == nullptr ? ways.net_devices : own;
  for (const auto name : split_text(named, ',')) devices.emplace_back(name);
  const auto address = first_address(devices).value_or(loopback());
  listen_on(Fd(::socket(address.storage.ss_family, stream_type, 0)), address.get(),
            address.length(), "a TCP port");
  card_.tcp = address_of(listeners_.back().get());
}

// No file, which somebody would have to remove.
void SocketListener::listen_by_unix(int rank) {
  card_.unix_name = "ucx-bench-";
  for (std::size_t i = 0; i < 8; ++i) {
    card_.unix_name += fmt::format("{:02x}", card_.secret.at(i) ^ 0x5aU);
  }
  card_.unix_name += fmt::format("-{}-{}", ::getpid(), rank);
  const auto [address, length] = unix_address(card_.unix_name);
  listen_on(Fd(::socket(AF_UNIX, stream_type, 0)), reinterpret_cast<const sockaddr*>(&address),
            length, "a Unix socket");
}

std::vector<SocketListener::Caller> SocketListener::look() {
  for (const auto& listener : listeners_) {
    for (;;) {
      Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) break;
      watch(socket.get());
      auto source = source_of(socket.get());
      incoming_.push_back(
          {.socket = std::move(socket), .source = std::move(source), .hello = {}, .bytes = 0});
      drop_one_too_many(incoming_, static_cast<std::size_t>(callers_));
    }
  }
  std::vector<Caller> callers;
  for (auto& from : incoming_) {
    if (auto caller = greeted(from)) callers.push_back(std::move(*caller));
  }
  std::erase_if(incoming_, [](const Incoming& from) { return !from.socket; });
  return callers;
}

// Whoever is none of this launch is sent away.
std::optional<SocketListener::Caller> SocketListener::greeted(Incoming& from) {
  const auto came =
      ::recv(from.socket.get(), reinterpret_cast<std::byte*>(&from.hello) + from.bytes,
             sizeof from.hello - from.bytes, MSG_DONTWAIT);
  if (came < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  from.bytes += static_cast<std::size_t>(std::max<ssize_t>(came, 0));
  if (came > 0 && from.bytes < sizeof from.hello) return std::nullopt;
  const int fd = from.socket.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  Caller caller{.rank = from.hello.rank, .socket = std::move(from.socket)};
  if (came <= 0 || from.hello.secret != card_.secret) return std::nullopt;
  set_options(fd, is_unix(address_of(fd)));
  return caller;
}

SocketConnector::SocketConnector(const SocketWays& ways, int rank, int other, SocketCard card)
    : rank_(rank),
      other_(other),
      card_(std::move(card)),
      by_unix_(ways.by_unix && card_.host == reach_of_unix_sockets()) {
  if (!by_unix_ && !ways.by_tcp) {
    throw Failure(Exit::cannot_run,
                  fmt::format("no connection from rank {} to rank {}: over shm sockets are Unix "
                              "sockets, and the two are not in one network namespace",
                              rank, other));
  }
  socket_ = Fd(::socket(by_unix_ ? AF_UNIX : card_.tcp.storage.ss_family, stream_type, 0));
  if (!socket_) throw_errno(Exit::cannot_run, "a socket");
  set_options(socket_.get(), by_unix_);
}

// A Unix listener whose queue is full says so; TCP's answer takes its time.
std::optional<Fd> SocketConnector::connected() {
  int result = 0;
  if (by_unix_) {
    const auto [address, length] = unix_address(card_.unix_name);
    result = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length);
  } else {
    result = ::connect(socket_.get(), card_.tcp.get(), card_.tcp.length());
  }
  if (result != 0 && errno != EISCONN) {
    if (errno == EAGAIN || errno == EINPROGRESS || errno == EALREADY || errno == EINTR) {
      return std::nullopt;
    }
    throw_errno(Exit::lost, fmt::format("no connection from rank {} to rank {}", rank_, other_));
  }
  const SocketListener::Hello hello{.secret = card_.secret, .rank = rank_};
  if (::send(socket_.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    throw_errno(Exit::lost, fmt::format("greeting rank {}", other_));
  }
  return std::move(socket_);
}

// The harness's watchdog bounds both loops.
Fd connect_socket(const SocketWays& ways, bool connects, Rendezvous& rendezvous, int peer,
                  const std::string& name, const Rendezvous::Progress& progress) {
  const auto key = fmt::format("socket/{}/{}", name, connects ? peer : rendezvous.rank());
  const auto wait = [&](int fd, short events) {
    pollfd waited{fd, events, 0};
    ::poll(&waited, 1, look_again_ms);
    progress();
  };
  if (connects) {
    SocketConnector connector(ways, rendezvous.rank(), peer,
                              SocketCard::of(rendezvous.get(key, progress)));
    for (;;) {
      if (auto socket = connector.connected()) return std::move(*socket);
      wait(connector.fd(), POLLOUT);
    }
  }
  SocketListener listener(ways, rendezvous.rank(), 1);
  rendezvous.put(key, listener.card().bytes(), progress);
  for (;;) {
    for (auto& caller : listener.look()) {
      if (caller.rank == peer) return std::move(caller.socket);
    }
    wait(listener.fd(), POLLIN);
  }
}

std::string lane_of_socket(int fd) {
  const auto local = address_of(fd);
  return is_unix(local) ? "unix/socket" : "tcp/" + device_of(local);
}

std::map<std::string, std::string> options_of_socket(int fd) {
  const bool by_unix = is_unix(address_of(fd));
  const std::string of = by_unix ? "sockets, unix: " : "sockets, tcp: ";
  std::map<std::string, std::string> options = {
      {of + "SO_SNDBUF", option_of(fd, SOL_SOCKET, SO_SNDBUF)},
      {of + "SO_RCVBUF", option_of(fd, SOL_SOCKET, SO_RCVBUF)}};
  if (!by_unix) options[of + "TCP_NODELAY"] = option_of(fd, IPPROTO_TCP, TCP_NODELAY);
  return options;
}

}  // namespace ucxbench
