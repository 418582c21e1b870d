#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::p2p {

/// Streams of equal messages to some ranks and from some, all at once.
struct Load {
  std::span<const std::byte> send;            ///< the message to everyone
  std::vector<std::span<std::byte>> receive;  ///< by rank: where its messages go
  int window = 1;                             ///< messages outstanding, per pair
  std::uint64_t messages = 1;                 ///< of each stream
};

/// What came from one rank.
struct Stream {
  int src = 0;
  double GBps = 0;  ///< bytes by the time from the sender's "now" to the last arrival, here
};

/// Carries out this rank's part: returns when everything was sent and has arrived, on both sides.
/// The receiver says when it is ready; a sender says "now" and begins.
std::vector<Stream> stream(Communicator& comm, const Clock& clock, const Load& load,
                           const std::vector<int>& to, const std::vector<int>& from);

}  // namespace ucxbench::p2p
