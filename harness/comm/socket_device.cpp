#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "harness/comm/device.hpp"
#include "harness/comm/socket_peer.hpp"
#include "harness/comm/sockets.hpp"
#include "harness/core/activity.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/fd.hpp"
#include "harness/launch/leftovers.hpp"
#include "harness/result/transports.hpp"

namespace ucxbench {
namespace {

constexpr int longest_sleep_ms = 500;  // what this rank waits for may be nothing of these sockets
constexpr std::size_t room_bytes = std::size_t{64} << 10U;

/// One stream socket to every other rank.
class SocketDevice final : public CommDevice {
 public:
  SocketDevice(int rank, int size, const CommSetup& setup)
      : rank_(rank),
        size_(size),
        ways_(SocketWays::of(setup.transports, setup.net_devices)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        lanes_(static_cast<std::size_t>(size)),
        room_(room_bytes) {
    if (!epoll_) fail("epoll_create1");
    for (int peer = 0; peer < size; ++peer) peers_.emplace_back(peer);
  }

  void connect(Rendezvous& rendezvous, const Rendezvous::Progress& progress) override {
    listener_.emplace(ways_, rank_, size_);
    watch(listener_->fd(), {Kind::listener, 0}, EPOLLIN);
    const auto cards = rendezvous.all_gather("sockets", listener_->card().bytes(), progress);
    // Of each pair the higher rank connects.
    for (int other = 0; other < rank_; ++other) {
      to_try_.emplace_back(ways_, rank_, other,
                           SocketCard::of(cards[static_cast<std::size_t>(other)]));
      watch_peer(to_try_.back().fd(), other);
    }
    while (!all_connected()) progress();
    listener_.reset();
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
    look();
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
  enum class Kind : std::uint32_t { peer, listener };
  /// Whose an event is.
  struct Source {
    Kind kind;
    std::uint32_t number;
  };

  [[noreturn]] static void fail(const char* call) {
    throw Failure(Exit::cannot_run, fmt::format("{}: {}", call, std::strerror(errno)));
  }

  SocketPeer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  bool all_connected() const {
    return std::ranges::all_of(peers_, [this](const SocketPeer& each) {
      return each.rank() == rank_ || each.connected();
    });
  }

  void watch(int fd, Source source, std::uint32_t events) {
    const auto number = static_cast<std::uint64_t>(source.kind) << 32U | source.number;
    epoll_event event{.events = events, .data = {.u64 = number}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
  }
  void watch_peer(int fd, int other) {
    watch(fd, {Kind::peer, static_cast<std::uint32_t>(other)},
          EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }

  void connected(int other, Fd socket) {
    lanes_[static_cast<std::size_t>(other)] = lane_of_socket(socket.get());
    effective_.merge(options_of_socket(socket.get()));
    peer(other).take(std::move(socket));
    moved_ = true;
  }

  void look() {
    std::erase_if(to_try_, [this](SocketConnector& connector) {
      auto socket = connector.connected();
      if (socket) connected(connector.other(), std::move(*socket));
      return socket.has_value();
    });
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
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
          take_callers();
          break;
      }
    }
  }

  // Who is expected; others are sent away.
  void take_callers() {
    for (auto& [other, socket] : listener_->look()) {
      if (other <= rank_ || other >= size_ || peer(other).connected()) continue;
      watch_peer(socket.get(), other);
      connected(other, std::move(socket));
    }
  }

  int rank_, size_;
  SocketWays ways_;
  Fd epoll_;
  std::optional<SocketListener> listener_;
  std::vector<SocketConnector> to_try_;  // of the ranks that this one still has to connect to
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
    const auto fabric = fabric_of(member);
    if (fabric == Fabric::sockets || fabric == Fabric::any) continue;
    if (fabric == Fabric::shared_memory && (one_host || transports.size() > 1)) continue;
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
