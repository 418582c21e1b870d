#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/comm/address.hpp"
#include "harness/comm/device.hpp"
#include "harness/comm/socket_peer.hpp"
#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/files.hpp"
#include "harness/core/text.hpp"
#include "harness/launch/fd.hpp"
#include "harness/launch/leftovers.hpp"

namespace ucxbench {
namespace {

constexpr int longest_sleep_ms = 500;  // what this rank waits for may be nothing of these sockets
constexpr std::size_t room_bytes = std::size_t{64} << 10U;
constexpr int buffer_bytes = 4 << 20;  // of a Unix socket; the kernel gives what it may

using Secret = std::array<std::uint8_t, 16>;

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

int option_of(int fd, int level, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  ::getsockopt(fd, level, option, &value, &length);
  return value;
}

[[noreturn]] void throw_errno(Exit exit, const std::string& what) {
  throw Failure(exit, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Who comes to a listener: others than this launch's ranks do not know the secret.
struct Hello {
  Secret secret{};
  std::int32_t rank = 0;
};

/// What a rank tells the others of itself.
struct Card {
  Secret secret{};
  std::string host;
  Address tcp;
  std::string unix_name;  ///< without the leading null byte

  Rendezvous::Bytes bytes() const {
    Rendezvous::Bytes all(secret.begin(), secret.end());
    for (const auto& part : {host, unix_name}) {
      all.push_back(static_cast<std::uint8_t>(part.size()));
      all.insert(all.end(), part.begin(), part.end());
    }
    const auto address = tcp.bytes();
    all.insert(all.end(), address.begin(), address.end());
    return all;
  }

  static Card of(const Rendezvous::Bytes& bytes) {
    Card card;
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
};

std::pair<sockaddr_un, socklen_t> unix_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, &address.sun_path[1]);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

/// One stream socket to every other rank: a Unix socket within a host where the set has shm, else
/// TCP on the addresses of --net-devices.
class SocketDevice final : public CommDevice {
 public:
  SocketDevice(int rank, int size, const CommSetup& setup)
      : rank_(rank),
        size_(size),
        net_devices_(setup.net_devices),
        by_unix_(has(setup, "shm") || has(setup, "auto")),
        by_tcp_(has(setup, "tcp") || has(setup, "auto")),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        room_(room_bytes) {
    if (!epoll_) throw_errno(Exit::cannot_run, "epoll_create1");
    for (int peer = 0; peer < size; ++peer) peers_.emplace_back(peer);
  }

  void connect(Rendezvous& rendezvous, const Rendezvous::Progress& progress) override {
    Card own{.secret = {}, .host = reach_of_unix_sockets(), .tcp = {}, .unix_name = {}};
    if (::getrandom(own.secret.data(), own.secret.size(), 0) < 0) {
      throw_errno(Exit::cannot_run, "getrandom");
    }
    secret_ = own.secret;
    if (by_tcp_) own.tcp = listen_by_tcp();
    if (by_unix_) own.unix_name = listen_by_unix();
    for (const auto& bytes : rendezvous.all_gather("sockets", own.bytes(), progress)) {
      cards_.push_back(Card::of(bytes));
    }
    // Of each pair the higher rank connects.
    for (int peer = 0; peer < rank_; ++peer) begin_to_connect(peer);
    while (!all_connected()) progress();
    listeners_.clear();
    incoming_.clear();
  }

  void send(int to, std::uint64_t label, std::span<const std::byte> bytes,
            Message& message) override {
    peer(to).send(label, bytes, message);
  }
  void receive(int from, std::uint64_t label, std::span<std::byte> bytes,
               Message& message) override {
    peer(from).receive(label, bytes, message);
  }

  bool step() override {
    look(0);
    bool moved = std::exchange(moved_, false);
    pending_ = false;
    for (auto& each : peers_) {
      if (!each.connected()) continue;
      moved = each.step(room_) || moved;
      pending_ = pending_ || each.pending();
    }
    if (moved) activity().bump();
    return moved;
  }

  bool sleep(int also) override {
    if (pending_) return false;
    std::array<pollfd, 2> fds = {{{epoll_.get(), POLLIN, 0}, {also, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), limit_ms_) == 0 && to_try_.empty()) {
      limit_ms_ = std::min(2 * limit_ms_, longest_sleep_ms);
    }
    return true;
  }
  void worked() override { limit_ms_ = 1; }
  void close() override { reset_connections(); }

  std::vector<std::string> lanes(int peer) const override {
    return {lanes_[static_cast<std::size_t>(peer)]};
  }
  const std::map<std::string, std::string>& effective() const override { return effective_; }

 private:
  // Of an event: whose it is, and a number.
  enum class Kind : std::uint32_t { peer, listener, incoming };
  static std::uint64_t tag(Kind kind, std::size_t number) {
    return static_cast<std::uint64_t>(kind) << 32U | number;
  }

  static bool has(const CommSetup& setup, std::string_view member) {
    return std::ranges::find(setup.transports, member) != setup.transports.end();
  }
  SocketPeer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  bool all_connected() const {
    return std::ranges::all_of(peers_, [this](const SocketPeer& each) {
      return each.rank() == rank_ || each.connected();
    });
  }

  void watch(int fd, std::uint64_t tag, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.u64 = tag}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      throw_errno(Exit::cannot_run, "epoll_ctl");
    }
  }

  void listen_on(Fd socket, const sockaddr* address, socklen_t length, const std::string& where) {
    if (!socket) throw_errno(Exit::cannot_run, "a socket for " + where);
    if (::bind(socket.get(), address, length) != 0 || ::listen(socket.get(), size_) != 0) {
      throw_errno(Exit::cannot_run, "listening on " + where);
    }
    watch(socket.get(), tag(Kind::listener, listeners_.size()), EPOLLIN);
    listeners_.push_back(std::move(socket));
  }

  Address listen_by_tcp() {
    std::vector<std::string> devices;
    // A host's own go before those that the case names for all.
    const char* own = std::getenv("UCX_NET_DEVICES");
    const std::string named = own == nullptr ? net_devices_ : own;
    for (const auto name : split_text(named, ',')) devices.emplace_back(name);
    auto address = first_address(devices).value_or(loopback());
    listen_on(
        Fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        address.get(), address.length(), "a TCP port");
    socklen_t length = sizeof address.storage;
    ::getsockname(listeners_.back().get(), address.get(), &length);
    return address;
  }

  // No file, which somebody would have to remove.
  std::string listen_by_unix() {
    std::string name = "ucx-bench-";
    for (std::size_t i = 0; i < 8; ++i) name += fmt::format("{:02x}", secret_.at(i) ^ 0x5aU);
    name += fmt::format("-{}-{}", ::getpid(), rank_);
    const auto [address, length] = unix_address(name);
    listen_on(Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
              reinterpret_cast<const sockaddr*>(&address), length, "a Unix socket");
    return name;
  }

  bool reach_by_unix(int other) const {
    const auto& card = cards_[static_cast<std::size_t>(other)];
    return by_unix_ && card.host == cards_[static_cast<std::size_t>(rank_)].host;
  }

  void begin_to_connect(int other) {
    const bool by_unix = reach_by_unix(other);
    if (!by_unix && !by_tcp_) {
      throw Failure(Exit::cannot_run,
                    fmt::format("no connection from rank {} to rank {}: over shm sockets are Unix "
                                "sockets, and the two are not in one network namespace",
                                rank_, other));
    }
    const auto& card = cards_[static_cast<std::size_t>(other)];
    const auto family = by_unix ? AF_UNIX : card.tcp.storage.ss_family;
    Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) throw_errno(Exit::cannot_run, "a socket");
    set_options(socket.get(), by_unix);
    const int fd = socket.get();
    peer(other).take(std::move(socket), false);
    to_try_.push_back(other);
    watch(fd, tag(Kind::peer, static_cast<std::size_t>(other)),
          EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }

  // TCP's buffers grow by themselves, to more than a process may ask for.
  static void set_options(int fd, bool by_unix) {
    if (by_unix) {
      set_option(fd, SOL_SOCKET, SO_SNDBUF, buffer_bytes);
      set_option(fd, SOL_SOCKET, SO_RCVBUF, buffer_bytes);
    } else {
      set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    }
  }

  // Whether it is connected now. A Unix listener whose queue is full says so; TCP's answer takes
  // its time.
  bool try_to_connect(int other) {
    const auto& card = cards_[static_cast<std::size_t>(other)];
    auto& to = peer(other);
    int result = 0;
    if (reach_by_unix(other)) {
      const auto [address, length] = unix_address(card.unix_name);
      result = ::connect(to.fd(), reinterpret_cast<const sockaddr*>(&address), length);
    } else {
      result = ::connect(to.fd(), card.tcp.get(), card.tcp.length());
    }
    if (result != 0 && errno != EISCONN) {
      if (errno == EAGAIN || errno == EINPROGRESS || errno == EALREADY || errno == EINTR) {
        return false;
      }
      throw_errno(Exit::lost, fmt::format("no connection from rank {} to rank {}", rank_, other));
    }
    const Hello hello{.secret = card.secret, .rank = rank_};
    if (::send(to.fd(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
      throw_errno(Exit::lost, fmt::format("greeting rank {}", other));
    }
    connected(other);
    return true;
  }

  void connected(int other) {
    auto& to = peer(other);
    to.is_connected();
    to.can_read(false);
    to.can_write();
    note_lane(other);
    moved_ = true;
  }

  void note_lane(int other) {
    lanes_.resize(static_cast<std::size_t>(size_));
    Address local;
    socklen_t length = sizeof local.storage;
    const int fd = peer(other).fd();
    ::getsockname(fd, local.get(), &length);
    const bool by_unix = local.storage.ss_family == AF_UNIX;
    lanes_[static_cast<std::size_t>(other)] = by_unix ? "unix/socket" : "tcp/" + device_of(local);
    const std::string of = by_unix ? "unix" : "tcp";
    effective_["sockets, " + of + ": SO_SNDBUF"] =
        std::to_string(option_of(fd, SOL_SOCKET, SO_SNDBUF));
    effective_["sockets, " + of + ": SO_RCVBUF"] =
        std::to_string(option_of(fd, SOL_SOCKET, SO_RCVBUF));
    if (!by_unix) {
      effective_["sockets, tcp: TCP_NODELAY"] =
          std::to_string(option_of(fd, IPPROTO_TCP, TCP_NODELAY));
    }
  }

  void look(int limit_ms) {
    if (!to_try_.empty())
      std::erase_if(to_try_, [this](int other) { return try_to_connect(other); });
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), limit_ms);
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      const auto number = static_cast<std::size_t>(event.data.u64 & 0xffffffffU);
      switch (static_cast<Kind>(event.data.u64 >> 32U)) {
        case Kind::peer:
          if (!peers_[number].connected()) break;  // it looks by itself, then
          if ((event.events & EPOLLOUT) != 0) peers_[number].can_write();
          if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) {
            peers_[number].can_read((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
          }
          break;
        case Kind::listener:
          accept_all(listeners_[number].get());
          break;
        case Kind::incoming:
          read_hello(number);
          break;
      }
    }
  }

  void accept_all(int listener) {
    for (;;) {
      Fd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) return;
      watch(socket.get(), tag(Kind::incoming, incoming_.size()), EPOLLIN);
      incoming_.push_back({.socket = std::move(socket), .hello = {}, .bytes = 0});
    }
  }

  void read_hello(std::size_t number) {
    auto& from = incoming_[number];
    if (!from.socket) return;
    const auto came =
        ::recv(from.socket.get(), reinterpret_cast<std::byte*>(&from.hello) + from.bytes,
               sizeof from.hello - from.bytes, MSG_DONTWAIT);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (came <= 0) return from.socket.reset();
    from.bytes += static_cast<std::size_t>(came);
    if (from.bytes < sizeof from.hello) return;
    const auto other = from.hello.rank;
    if (from.hello.secret != secret_ || other <= rank_ || other >= size_ || peer(other).fd() >= 0) {
      return from.socket.reset();  // nobody of this launch
    }
    const int fd = from.socket.get();
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    sockaddr_storage local{};
    socklen_t length = sizeof local;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length);
    set_options(fd, local.ss_family == AF_UNIX);
    peer(other).take(std::move(from.socket), true);
    connected(other);
    watch(fd, tag(Kind::peer, static_cast<std::size_t>(other)),
          EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }

  struct Incoming {
    Fd socket;
    Hello hello;
    std::size_t bytes = 0;
  };

  int rank_, size_;
  std::string net_devices_;
  bool by_unix_, by_tcp_;
  Secret secret_{};
  Fd epoll_;
  std::vector<Fd> listeners_;
  std::vector<Incoming> incoming_;
  std::vector<Card> cards_;
  std::vector<int> to_try_;  // ranks that this one still has to connect to
  std::vector<SocketPeer> peers_;
  std::vector<std::string> lanes_;
  std::map<std::string, std::string> effective_;
  std::vector<std::byte> room_;
  int limit_ms_ = 1;      // of the next sleep
  bool moved_ = false;    // something happened while connecting
  bool pending_ = false;  // the last step has left something
};

}  // namespace

std::string why_no_sockets(const std::vector<std::string>& transports, bool gpu_memory,
                           bool one_host) {
  for (const auto& member : transports) {
    if (member == "tcp" || member == "auto" || (member == "shm" && one_host)) continue;
    if (member == "shm" && transports.size() > 1) continue;
    return fmt::format(
        "{}: sockets carry messages over tcp, and within a host over shm as Unix "
        "sockets",
        member);
  }
  return gpu_memory ? "GPU memory: the kernel's sockets take and give the host's only" : "";
}

std::unique_ptr<CommDevice> make_socket_device(int rank, int size, const CommSetup& setup) {
  return std::make_unique<SocketDevice>(rank, size, setup);
}

}  // namespace ucxbench
