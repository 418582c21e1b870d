#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/run/checks.hpp"

namespace ucxbench {

/// One more window of a stream, which nobody times. The messages of a timed stream have one content
/// and one place, as in ucx_perftest, so that one of them could be taken for another. Each of these
/// has a content and a place of its own. They are messages as the timed ones are: of the same
/// communicator and size, all under way at once, into receives that were posted before.
class CheckedWindow {
 public:
  /// Of `bytes` each. `window`: what the timed stream has under way at once; as many as fit four
  /// MiB, but two at least unless that is one.
  CheckedWindow(std::uint64_t bytes, int window);

  std::size_t messages() const { return messages_; }
  /// What all of them need of the send buffer, and of each place that is received into.
  std::uint64_t all_bytes() const { return messages_ * stride_; }

  /// A window to each of `to`, and one from each of `from` into its buffer; both sides call it.
  /// Each message is one check. `round`: another one has other contents.
  Checks exchange(Communicator& comm, std::uint64_t round, Buffer& send, const std::vector<int>& to,
                  const std::vector<std::pair<int, Buffer*>>& from) const;

 private:
  std::uint64_t seed(int sender, std::uint64_t round, std::size_t message) const;

  std::uint64_t bytes_;
  std::size_t messages_;
  std::uint64_t stride_;
};

/// The first byte of `buffer` that is not of that payload, in words; empty when all is right.
std::string wrong_payload(const Buffer& buffer, std::uint64_t bytes, std::uint64_t seed,
                          const Communicator& comm, int sender);

}  // namespace ucxbench
