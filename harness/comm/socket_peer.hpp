#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "harness/comm/device.hpp"
#include "harness/core/fd.hpp"

namespace ucxbench {

/// The messages between this rank and another over one stream socket, which is non-blocking. Before
/// each goes its label and length (native byte order: all ranks are one program), sealed, so that a
/// damaged one is known before it is believed. What comes is read to where its receive wants it,
/// and only what comes before its receive is kept in between.
class SocketPeer {
 public:
  explicit SocketPeer(int rank) : rank_(rank) {}

  int rank() const { return rank_; }
  bool connected() const { return static_cast<bool>(fd_); }
  /// A socket of which the other side knows who this is.
  void take(Fd fd);

  void send(std::uint64_t label, std::span<const std::byte> bytes, Message& message);
  void receive(std::uint64_t label, std::span<std::byte> bytes, Message& message);

  /// What the kernel says of the socket (once for each change: edge-triggered).
  void can_read(bool ended) {
    readable_ = true;
    ended_ = ended_ || ended;
  }
  void can_write() { writable_ = true; }
  /// There may be something to read that step() has left.
  bool pending() const { return readable_; }

  /// Sends and reads what goes without waiting, up to a bound; whether anything went. `room` is for
  /// reading, whatever is in it. Throws Failure.
  bool step(std::span<std::byte> room);

 private:
  struct Header {
    static constexpr unsigned label_bits = 27;
    static_assert(label_count == std::uint64_t{1} << label_bits);
    std::uint64_t sealed = 0;  ///< the label, and above it a hash of label and length
    std::uint64_t bytes = 0;

    static Header of(std::uint64_t label, std::uint64_t bytes);
    std::uint64_t label() const { return sealed & (label_count - 1); }
  };
  struct Outgoing {
    Header header;
    const std::byte* data = nullptr;
    std::size_t sent = 0;  ///< of header and data
    Message* message = nullptr;
  };
  struct Incoming {
    std::uint64_t label = 0;
    std::byte* place = nullptr;
    std::size_t bytes = 0;
    Message* message = nullptr;
  };
  /// One that came, or comes, before its receive was posted.
  struct Early {
    Header header;
    std::vector<std::byte> bytes;  ///< as far as it has come
  };

  bool write();
  bool read(std::span<std::byte> room);
  void consume(std::span<const std::byte> bytes);
  void begin(const Header& header);
  void took(std::size_t bytes);
  [[noreturn]] void lost(const char* how) const;

  int rank_;
  Fd fd_;
  bool readable_ = false, writable_ = false, ended_ = false;
  std::deque<Outgoing> outgoing_;
  std::deque<Incoming> posted_;
  std::deque<Early> early_;  // the last one may still come

  // The message that comes now: to a place, or, if that is null, into the last early one.
  std::size_t whole_bytes_ = 0;
  std::size_t rest_ = 0;
  std::byte* place_ = nullptr;
  Message* message_ = nullptr;
  Header partial_;  // of a header, as far as it has come
  std::size_t partial_bytes_ = 0;
};

}  // namespace ucxbench
