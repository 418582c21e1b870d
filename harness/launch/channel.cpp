#include "harness/launch/channel.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "harness/core/announced.hpp"
#include "harness/core/cbor.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t header_bytes = 4;
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

std::size_t decode_length(const std::uint8_t* header) {
  return std::size_t{header[0]} | std::size_t{header[1]} << 8 | std::size_t{header[2]} << 16 |
         std::size_t{header[3]} << 24;
}

}  // namespace

bool wait_for(int fd, short events, milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  pollfd entry{fd, events, 0};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

Channel::Channel(Fd stream, std::optional<Seals> seals)
    : stream_(std::move(stream)), seals_(std::move(seals)), chunk_(chunk_bytes) {}

std::vector<std::uint8_t> Channel::encode(const Frame& frame) {
  const std::size_t before = bytes_before_frame();
  std::vector<std::uint8_t> bytes(before);
  nlohmann::json::to_cbor(frame, bytes);
  const std::size_t length = bytes.size() - before;
  if (length > max_frame_bytes) {
    throw Failure(Exit::lost, fmt::format("a control message of {} bytes exceeds the limit of {}",
                                          length, max_frame_bytes));
  }
  for (std::size_t i = 0; i < header_bytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(length >> (8 * i));
  }
  if (seals_) {
    const auto of_length = seals_->sent.next(std::span(bytes).first(header_bytes));
    const auto of_frame = seals_->sent.next(std::span(bytes).subspan(before));
    std::ranges::copy(of_frame, std::ranges::copy(of_length, bytes.begin() + header_bytes).out);
  }
  return bytes;
}

void Channel::send(const Frame& frame, milliseconds limit) {
  const std::lock_guard lock(send_mutex_);
  send_locked(frame, limit);
}

bool Channel::offer(const Frame& frame) {
  const std::unique_lock lock(send_mutex_, std::try_to_lock);
  if (!lock || !wait_for(fd(), POLLOUT, milliseconds(0))) return false;
  send_locked(frame, std::chrono::seconds(1));
  return true;
}

void Channel::send_locked(const Frame& frame, milliseconds limit) {
  if (broken_) throw Failure(Exit::lost, "the control connection was lost");
  const auto bytes = encode(frame);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n =
        ::send(fd(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    const int error = errno;
    const bool full = error == EAGAIN;
    if (full && wait_for(fd(), POLLOUT, limit)) continue;
    broken_ = true;
    closed_ = error == EPIPE || error == ECONNRESET;
    throw Failure(Exit::lost,
                  full ? fmt::format("the control connection took nothing for {} ms", limit.count())
                       : fmt::format("the control connection was lost: {}", std::strerror(error)));
  }
}

std::optional<Channel::Frame> Channel::receive() {
  for (;;) {
    if (auto frame = take_frame()) return frame;
    if (ended_) return std::nullopt;
    const ssize_t n = ::recv(fd(), chunk_.data(), chunk_.size(), MSG_DONTWAIT);
    if (n > 0) {
      buffer_.insert(buffer_.end(), chunk_.begin(), chunk_.begin() + n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    // A peer killed with our bytes still unread gives ECONNRESET; the end is the same. Part of a
    // frame can only be what such a peer left behind.
    ended_ = true;
    if (n == 0 && !buffer_.empty()) {
      throw Failure(Exit::lost, "the control connection ended in the middle of a message");
    }
    return std::nullopt;
  }
}

std::size_t Channel::bytes_before_frame() const {
  return header_bytes + (seals_ ? 2 * sizeof(Seal::Tag) : 0);
}

std::optional<Channel::Frame> Channel::take_frame() {
  const auto before = bytes_before_frame();
  if (buffer_.size() < before) return std::nullopt;
  if (!length_) {
    check_seal(std::span(buffer_).first(header_bytes), header_bytes);
    length_ = decode_length(buffer_.data());
    if (*length_ > max_frame_bytes) ended_ = true;
    check_at_most({.count = *length_, .unit = "bytes of a control message"}, max_frame_bytes,
                  Exit::lost);
  }
  if (buffer_.size() < before + *length_) return std::nullopt;
  const auto body = std::span(buffer_).subspan(before, *length_);
  check_seal(body, header_bytes + sizeof(Seal::Tag));
  auto frame = from_cbor(body);
  if (!frame || !frame->is_object() ||
      (frame->contains("type") && !frame->at("type").is_string())) {
    refuse("bytes on the control connection are no message");
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(before + *length_));
  length_.reset();
  return frame;
}

// A length that somebody has made larger would be waited for until the other side is silent.
void Channel::check_seal(std::span<const std::uint8_t> piece, std::size_t at) {
  if (!seals_) return;
  const auto seal = std::span(buffer_).subspan(at, sizeof(Seal::Tag));
  if (same(seal, seals_->received.next(piece))) return;
  refuse(
      "a control message is not the next one that the other side sent: somebody on the way changed "
      "it, left one out or sent one again");
}

void Channel::refuse(const std::string& why) {
  ended_ = true;
  throw Failure(Exit::lost, why);
}

bool Channel::wait(milliseconds limit) const { return wait_for(fd(), POLLIN, limit); }

}  // namespace ucxbench
