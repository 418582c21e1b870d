#include "harness/comm/socket_peer.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/core/announced.hpp"
#include "harness/core/failure.hpp"
#include "harness/core/pattern.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_vectors = 64;                       // of a call; two for each message
constexpr std::size_t most_at_once = std::size_t{4} << 20U;    // of a step: others wait, too
constexpr std::size_t most_of_a_call = std::size_t{1} << 30U;  // the kernel's bound is below 2 GiB
// After a message of that size the next one's bytes are not read together with its header: they
// would have to be copied.
constexpr std::size_t large = std::size_t{16} << 10U;
// More room for a message that nobody expects yet is taken as its bytes come.
constexpr std::size_t first_room = std::size_t{1} << 20U;

}  // namespace

void SocketPeer::take(Fd fd) {
  fd_ = std::move(fd);
  writable_ = readable_ = true;  // as far as it is known
}

void SocketPeer::lost(const char* how) const {
  throw Failure(Exit::lost, fmt::format("the connection with rank {} {}", rank_, how));
}

void SocketPeer::send(std::uint64_t label, std::span<const std::byte> bytes, Message& message) {
  outgoing_.push_back(
      {.header = Header::of(label, bytes.size()), .data = bytes.data(), .message = &message});
  if (outgoing_.size() == 1) write();
}

void SocketPeer::receive(std::uint64_t label, std::span<std::byte> bytes, Message& message) {
  const auto found =
      std::ranges::find(early_, label, [](const Early& e) { return e.header.label(); });
  if (found == early_.end()) {
    posted_.push_back({label, bytes.data(), bytes.size(), &message});
    return;
  }
  check_equal({.count = found->header.bytes, .rank = rank_}, bytes.size());
  std::ranges::copy(found->bytes, bytes.begin());
  const auto come = found->bytes.size();
  const bool comes = rest_ > 0 && place_ == nullptr && &*found == &early_.back();
  early_.erase(found);
  if (comes) {
    place_ = bytes.data() + come;
    message_ = &message;
  } else {
    message.over();
  }
}

bool SocketPeer::step(std::span<std::byte> room) {
  const bool wrote = !outgoing_.empty() && writable_ && write();
  return (readable_ && read(room)) || wrote;
}

bool SocketPeer::write() {
  bool wrote = false;
  while (writable_ && !outgoing_.empty()) {
    std::array<iovec, most_vectors> vectors;
    std::size_t count = 0;
    std::size_t asked = 0;
    for (auto& out : outgoing_) {
      if (count + 2 > vectors.size() || asked >= most_of_a_call) break;
      constexpr auto header_bytes = sizeof out.header;
      if (out.sent < header_bytes) {
        vectors[count++] = {reinterpret_cast<std::byte*>(&out.header) + out.sent,
                            header_bytes - out.sent};
        asked += header_bytes - out.sent;
      }
      const auto of_data = std::max(out.sent, header_bytes) - header_bytes;
      const auto rest = std::min<std::size_t>(out.header.bytes - of_data, most_of_a_call);
      if (rest > 0) vectors[count++] = {const_cast<std::byte*>(out.data) + of_data, rest};
      asked += rest;
      if (rest < out.header.bytes - of_data) break;
    }
    msghdr call{};
    call.msg_iov = vectors.data();
    call.msg_iovlen = count;
    const auto went = ::sendmsg(fd_.get(), &call, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (went < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) lost(std::strerror(errno));
      writable_ = false;
      return wrote;
    }
    wrote = true;
    auto left = static_cast<std::size_t>(went);
    writable_ = left == asked;  // else the kernel has no more room now
    while (left > 0) {
      auto& out = outgoing_.front();
      const auto whole = sizeof out.header + out.header.bytes;
      const auto step = std::min(left, whole - out.sent);
      out.sent += step;
      left -= step;
      if (out.sent < whole) break;
      auto& message = *out.message;
      outgoing_.pop_front();
      message.over();
    }
  }
  return wrote;
}

bool SocketPeer::read(std::span<std::byte> room) {
  std::size_t all = 0;
  while (readable_ && all < most_at_once) {
    // Of an early message this rank cannot know where it will go.
    const bool early = rest_ > 0 && place_ == nullptr;
    const auto to_place = early ? 0 : std::min(rest_, most_of_a_call);
    const auto beside = to_place < rest_ && !early        ? 0
                        : whole_bytes_ >= large && !early ? sizeof(Header) - partial_bytes_
                                                          : room.size();
    std::array<iovec, 2> vectors = {{{place_, to_place}, {room.data(), beside}}};
    msghdr call{};
    call.msg_iov = vectors.data();
    call.msg_iovlen = vectors.size();
    const auto came = ::recvmsg(fd_.get(), &call, MSG_DONTWAIT);
    if (came == 0) lost("has ended");
    if (came < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) lost(std::strerror(errno));
      readable_ = false;
      break;
    }
    const auto bytes = static_cast<std::size_t>(came);
    all += bytes;
    const auto placed = std::min(bytes, to_place);
    if (placed > 0) took(placed);
    consume(room.first(bytes - placed));
    readable_ = ended_ || bytes == to_place + beside;  // else that was all
  }
  return all > 0;
}

// `bytes` have come of the message under way, where they belong.
void SocketPeer::took(std::size_t bytes) {
  rest_ -= bytes;
  if (place_ == nullptr) return;
  place_ += bytes;
  if (rest_ > 0) return;
  place_ = nullptr;
  std::exchange(message_, nullptr)->over();
}

// Bytes that stand in between: headers, and what came with them.
void SocketPeer::consume(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (rest_ > 0) {
      const auto part = bytes.first(std::min(rest_, bytes.size()));
      if (place_ != nullptr) {
        std::ranges::copy(part, place_);
      } else {
        early_.back().bytes.insert(early_.back().bytes.end(), part.begin(), part.end());
      }
      bytes = bytes.subspan(part.size());
      took(part.size());
      continue;
    }
    const auto part = bytes.first(std::min(sizeof partial_ - partial_bytes_, bytes.size()));
    std::ranges::copy(part, reinterpret_cast<std::byte*>(&partial_) + partial_bytes_);
    bytes = bytes.subspan(part.size());
    partial_bytes_ += part.size();
    if (partial_bytes_ < sizeof partial_) return;
    partial_bytes_ = 0;
    begin(partial_);
  }
}

SocketPeer::Header SocketPeer::Header::of(std::uint64_t label, std::uint64_t bytes) {
  return {.sealed = label | mix64(label ^ mix64(bytes)) << label_bits, .bytes = bytes};
}

void SocketPeer::begin(const Header& header) {
  check_at_most({.count = header.bytes, .rank = rank_}, most_message_bytes());
  if (header.sealed != Header::of(header.label(), header.bytes).sealed) refuse_announcement(rank_);
  whole_bytes_ = header.bytes;
  rest_ = header.bytes;
  const auto found = std::ranges::find(posted_, header.label(), &Incoming::label);
  if (found == posted_.end()) {
    early_.push_back({header, {}});
    early_.back().bytes.reserve(std::min<std::size_t>(header.bytes, first_room));
    return;
  }
  check_equal({.count = header.bytes, .rank = rank_}, found->bytes);
  auto& message = *found->message;
  place_ = found->place;
  posted_.erase(found);
  if (rest_ > 0) {
    message_ = &message;
  } else {
    place_ = nullptr;
    message.over();
  }
}

}  // namespace ucxbench
