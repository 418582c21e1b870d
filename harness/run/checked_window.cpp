#include "harness/run/checked_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "harness/core/pattern.hpp"

namespace ucxbench {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{4} << 20U;
/// A message begins at a cache line, so that no two of them share one.
constexpr std::uint64_t cache_line_bytes = 64;
/// This label is apart from those of streams and of their signals.
constexpr std::uint64_t ready_label = label_count / 4 + 16;

std::span<std::byte> bytes_of(Buffer& buffer, std::uint64_t bytes) {
  return {buffer.data(), bytes};
}

}  // namespace

CheckedWindow::CheckedWindow(std::uint64_t bytes, int window)
    : bytes_(bytes), stride_((bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes) {
  const auto most = static_cast<std::uint64_t>(window);
  messages_ = std::min(most, std::max<std::uint64_t>(2, most_bytes / stride_));
}

std::uint64_t CheckedWindow::seed(int sender, std::uint64_t round, std::size_t message) const {
  return mix64(payload_seed(sender, bytes_, round)) + message;
}

Checks CheckedWindow::exchange(Communicator& comm, std::uint64_t round, Buffer& send,
                               const std::vector<int>& to,
                               const std::vector<std::pair<int, Buffer*>>& from) const {
  const auto place = [&](Buffer& buffer, std::size_t message) {
    return buffer.part(message * stride_, bytes_);
  };
  Batch receives;
  Batch sends;
  Batch readies;
  std::array<std::byte, 1> token{};
  for (const auto& [sender, buffer] : from) {
    buffer->poison(all_bytes());
    for (std::size_t message = 0; message < messages_; ++message) {
      auto slot = place(*buffer, message);
      comm.receive(sender, message, bytes_of(slot, bytes_), receives);
    }
    comm.send(sender, ready_label, token, sends);
  }
  for (std::size_t message = 0; message < messages_ && !to.empty(); ++message) {
    place(send, message).fill(bytes_, seed(comm.rank(), round, message));
  }
  std::deque<std::array<std::byte, 1>> tokens(to.size());
  for (std::size_t at = 0; at < to.size(); ++at) {
    comm.receive(to[at], ready_label, tokens[at], readies);
  }
  comm.wait(readies);
  for (std::size_t message = 0; message < messages_; ++message) {
    for (const auto receiver : to) {
      auto slot = place(send, message);
      comm.send(receiver, message, bytes_of(slot, bytes_), sends);
    }
  }
  comm.wait(receives);
  // Before anything else: what is not there now has come too late.
  Checks checks;
  for (const auto& [sender, buffer] : from) {
    for (std::size_t message = 0; message < messages_; ++message) {
      checks.add(wrong_payload(place(*buffer, message), bytes_, seed(sender, round, message), comm,
                               sender));
    }
  }
  comm.wait(sends);
  return checks;
}

std::string wrong_payload(const Buffer& buffer, std::uint64_t bytes, std::uint64_t seed,
                          const Communicator& comm, int sender) {
  const auto at = buffer.mismatch(bytes, seed);
  if (!at) return "";
  return fmt::format("wrong data at byte offset {} of {}: rank {} received from rank {}", *at,
                     bytes, comm.rank(), sender);
}

}  // namespace ucxbench
