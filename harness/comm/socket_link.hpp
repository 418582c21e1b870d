#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "harness/comm/link.hpp"
#include "harness/core/activity.hpp"
#include "harness/core/announced.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {

// How a link waits when nothing moves on its socket.
struct SocketPolls {
  static void rest(int /*fd*/, short /*events*/) {}
};
struct SocketSleeps {
  static constexpr int limit_ms = 500;  // the kernel loses no event; every wait has a limit
  static void rest(int fd, short events) {
    pollfd waited{fd, events, 0};
    ::poll(&waited, 1, limit_ms);
  }
};

enum class SocketMessages {
  framed,  ///< its label and length go before each (16 bytes): messages, as tags have them
  bare     ///< the payload alone: a stream of bytes
};

/// The messages of a pair over one non-blocking stream socket, which is the caller's, without a
/// copy: each goes when it is posted, what the kernel had no room for by as few calls as it can be,
/// and what has come is read to where the posted receives want it, several by one call. Messages
/// come in the order of their receives. Throws Failure: Exit::lost when the connection has ended,
/// Exit::wrong_data for a message of another label or length than was expected.
template <SocketMessages messages, typename Waiting>
class SocketLink {
 public:
  SocketLink(int fd, int peer) : fd_(fd), peer_(peer) {}

  void use(const LinkBuffers& buffers) {
    buffers_ = buffers;
    sends_.ended = receives_.ended = 0;
  }

  bool can_send() const { return sends_.pending < buffers_.window; }
  bool can_receive() const { return receives_.pending < buffers_.window; }

  void send() {
    until([this] { return can_send(); });
    post_send(buffers_.send, buffers_.bytes, data_label);
  }
  void receive() {
    until([this] { return can_receive(); });
    post_receive(buffers_.receive, buffers_.bytes, data_label);
  }
  void start_receive() { receive(); }

  void wait_sends() {
    until([this] { return sends_.pending == 0; });
  }
  void wait_receives() {
    until([this] { return receives_.pending == 0; });
  }

  void signal() {
    static constexpr std::byte token{0x5a};
    wait_sends();
    post_send(&token, 1, signal_label);
    wait_sends();
  }
  void await_signal() {
    std::byte token{};
    wait_receives();
    post_receive(&token, 1, signal_label);
    wait_receives();
  }

  /// The kernel has taken it.
  void flush() { wait_sends(); }

  /// A socket has no words of its own.
  std::string send_described() {
    send();
    wait_sends();
    return "";
  }

  SocketLink& progress() { return *this; }
  void turn() { step(); }
  template <typename Done>
  void until(Done done) {
    while (!done()) {
      if (step() || done()) continue;
      const int events = (sends_.pending > 0 ? POLLOUT : 0) | (receives_.pending > 0 ? POLLIN : 0);
      Waiting::rest(fd_, static_cast<short>(events));
    }
  }

 private:
  static constexpr bool framed = messages == SocketMessages::framed;
  static constexpr std::uint64_t data_label = 1;
  static constexpr std::uint64_t signal_label = 2;
  static constexpr std::size_t most_messages = 64;                    // of a call
  static constexpr std::size_t enough_bytes = std::size_t{1} << 20U;  // for one

  struct Header {
    std::uint64_t label = 0, bytes = 0;
    bool operator==(const Header&) const = default;
  };
  static constexpr std::size_t header_bytes = framed ? sizeof(Header) : 0;

  /// Messages under way, all alike.
  struct Messages {
    std::byte* place = nullptr;  ///< the first of LinkBuffers::places
    Header header;
    int pending = 0;
    std::size_t moved = 0;  ///< of the first one, with its header
    std::size_t ended = 0;  ///< data before it
  };

  /// Of the `at`th that is under way.
  std::byte* place_of(const Messages& all, std::size_t at) const {
    const bool varies = buffers_.places > 1 && all.header.label == data_label;
    return all.place + (varies ? buffers_.offset(all.ended + at) : 0);
  }

  using Vectors = std::array<iovec, 2 * most_messages>;

  /// Where the next bytes of `all` are; `header_of` a message's number is where its header is.
  template <typename HeaderOf>
  std::size_t fill(Vectors& vectors, const Messages& all, HeaderOf header_of) const {
    std::size_t count = 0;
    std::size_t asked = 0;
    auto skipped = all.moved;
    for (std::size_t at = 0; at < most_messages && std::cmp_less(at, all.pending); ++at) {
      if (skipped < header_bytes) {
        auto* header = reinterpret_cast<std::byte*>(header_of(at));
        vectors[count++] = {header + skipped, header_bytes - skipped};
        skipped = header_bytes;
      }
      const auto of_place = skipped - header_bytes;
      if (of_place < all.header.bytes) {
        vectors[count++] = {place_of(all, at) + of_place, all.header.bytes - of_place};
      }
      asked += all.header.bytes;
      if (asked >= enough_bytes) break;
      skipped = 0;
    }
    return count;
  }

  bool step() {
    const bool wrote = sends_.pending > 0 && write();
    const bool read_some = receives_.pending > 0 && read();
    if (!wrote && !read_some) return false;
    activity().bump();
    return true;
  }

  // Of nothing there is nothing to move.
  void post_send(const std::byte* data, std::size_t bytes, std::uint64_t label) {
    if (header_bytes + bytes == 0) return;
    sends_.place = const_cast<std::byte*>(data);
    sends_.header = {label, bytes};
    if (sends_.pending++ == 0 && write()) activity().bump();
  }
  void post_receive(std::byte* place, std::size_t bytes, std::uint64_t label) {
    if (header_bytes + bytes == 0) return;
    receives_.place = place;
    receives_.header = {label, bytes};
    ++receives_.pending;
  }

  bool write() {
    Vectors vectors;
    const auto count = fill(vectors, sends_, [this](std::size_t) { return &sends_.header; });
    ssize_t went = 0;
    if (count == 1) {
      went = ::send(fd_, vectors[0].iov_base, vectors[0].iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
      msghdr call{};
      call.msg_iov = vectors.data();
      call.msg_iovlen = count;
      went = ::sendmsg(fd_, &call, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (went < 0) return nothing_moved();
    advance(sends_, static_cast<std::size_t>(went), [](std::size_t) {});
    return true;
  }

  bool read() {
    Vectors vectors;
    const auto count = fill(vectors, receives_, [this](std::size_t at) { return &headers_[at]; });
    ssize_t came = 0;
    if (count == 1) {
      came = ::recv(fd_, vectors[0].iov_base, vectors[0].iov_len, MSG_DONTWAIT);
    } else {
      msghdr call{};
      call.msg_iov = vectors.data();
      call.msg_iovlen = count;
      came = ::recvmsg(fd_, &call, MSG_DONTWAIT);
    }
    if (came < 0) return nothing_moved();
    if (came == 0) lost("has ended");
    const auto whole = advance(receives_, static_cast<std::size_t>(came), [this](std::size_t at) {
      if (headers_[at] != receives_.header) refuse(headers_[at]);
    });
    // The next call begins with the message of which a part has come.
    if (framed && whole > 0 && receives_.moved > 0) headers_[0] = headers_[whole];
    return true;
  }

  /// `bytes` more of `all` have moved: how many messages ended with them. `check_header` is called
  /// with the number of each whose header is whole.
  template <typename CheckHeader>
  static std::size_t advance(Messages& all, std::size_t bytes, CheckHeader check_header) {
    const auto whole = header_bytes + all.header.bytes;
    std::size_t ended = 0;
    while (bytes > 0) {
      const auto part = std::min(bytes, whole - all.moved);
      bytes -= part;
      all.moved += part;
      if (framed && all.moved >= header_bytes) check_header(ended);
      if (all.moved < whole) break;
      all.moved = 0;
      --all.pending;
      if (all.header.label == data_label) ++all.ended;
      ++ended;
    }
    return ended;
  }

  bool nothing_moved() const {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) lost(std::strerror(errno));
    return false;
  }
  [[noreturn]] void lost(const std::string& how) const {
    throw Failure(Exit::lost, "the connection with rank " + std::to_string(peer_) + " " + how);
  }

  [[noreturn]] void refuse(const Header& header) const {
    check_equal({.count = header.bytes, .rank = peer_}, receives_.header.bytes);
    refuse_announcement(peer_);
  }

  int fd_, peer_;
  LinkBuffers buffers_;
  Messages sends_, receives_;
  std::array<Header, most_messages> headers_;
};

}  // namespace ucxbench
