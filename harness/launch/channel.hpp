#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/fd.hpp"
#include "harness/launch/seal.hpp"

namespace ucxbench {

/// Messages over a connected stream socket: a little-endian u32 length, then with seals one of the
/// length and one of what follows, then one JSON object as CBOR (so that binary values travel as
/// they are) of that length, whose "type" is a string. Any thread may send; one thread receives.
class Channel {
 public:
  using Frame = nlohmann::json;
  static constexpr std::size_t max_frame_bytes = std::size_t{64} << 20;

  /// Without `seals` whoever holds the stream is trusted.
  explicit Channel(Fd stream, std::optional<Seals> seals = std::nullopt);

  int fd() const { return stream_.get(); }

  /// Throws Failure(Exit::lost) when the peer is gone or took nothing for `limit`; after that the
  /// channel takes no more, since half a frame may be out.
  void send(const Frame& frame, std::chrono::milliseconds limit = std::chrono::seconds(5));

  /// As `send`, but gives up (false) when another thread is sending or the stream is full now.
  bool offer(const Frame& frame);

  /// The next whole frame, without waiting. Throws Failure(Exit::lost) on bytes that are no frame,
  /// or not the next one that the other side sent; a length is not believed before.
  std::optional<Frame> receive();

  /// How much of the next frame is here: its change is a sign of life while a long one arrives.
  std::size_t pending_bytes() const { return buffer_.size(); }

  /// True once the peer has closed and every frame before that was received.
  bool ended() const { return ended_; }
  /// Whether a send found that the peer had closed.
  bool closed() const { return closed_; }

  /// Waits until bytes, or the end, can be read; false when `limit` passed.
  bool wait(std::chrono::milliseconds limit) const;

 private:
  void send_locked(const Frame& frame, std::chrono::milliseconds limit);
  std::vector<std::uint8_t> encode(const Frame& frame);
  std::optional<Frame> take_frame();
  std::size_t bytes_before_frame() const;
  /// Of the piece that is next, whose seal stands at `at`.
  void check_seal(std::span<const std::uint8_t> piece, std::size_t at);
  [[noreturn]] void refuse(const std::string& why);

  Fd stream_;
  std::optional<Seals> seals_;
  /// A rank ends where a failure is thrown (ChannelRendezvous::from_environment), also in the midst
  /// of a send: the same thread then sends why.
  std::recursive_mutex send_mutex_;
  bool broken_ = false;
  bool closed_ = false;
  std::vector<std::uint8_t> chunk_;
  std::vector<std::uint8_t> buffer_;
  std::optional<std::size_t> length_;  ///< of the next frame, once it is here
  bool ended_ = false;
};

/// Waits for poll(2) `events`; false when `limit` passed. A signal does not shorten the wait.
bool wait_for(int fd, short events, std::chrono::milliseconds limit);

}  // namespace ucxbench
