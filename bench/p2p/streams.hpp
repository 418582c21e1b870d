#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::p2p {

/// Streams of equal messages to some ranks and from some, all at once.
struct Load {
  std::span<const std::byte> send;            ///< the message to everyone
  std::vector<std::span<std::byte>> receive;  ///< where messages go, from one rank after the other
  int window = 1;                             ///< messages outstanding, per pair
  std::optional<std::uint64_t> messages;      ///< of each stream; empty: as the next two say
  std::uint64_t least_messages = 1;           ///< … these at least,
  double least_s = 0;                         ///< and that long
  /// The sender waits until its receiver has said that all has come. It always does where the
  /// number of messages is not fixed; else it may go on without.
  bool confirmed = true;
  /// The sender does not wait until its receiver is ready: for few messages that nobody times,
  /// since they may come before anybody looks for them.
  bool announced = true;
};

/// What came from one rank.
struct Stream {
  int src = 0;
  std::uint64_t messages = 0;              ///< that had come when it ended
  std::uint64_t ticks = 0;                 ///< from its begin to its end, by the receiver's clock
  std::uint64_t begin_ns = 0, end_ns = 0;  ///< the same by CLOCK_MONOTONIC
};

/// Carries out this rank's part: returns when everything was sent and, of what this rank receives
/// or the load says that it is confirmed, has arrived.
///
/// A stream begins when its receiver has posted receives and is about to say that it is ready: no
/// message can have come by then, however late this rank is given its processor. It ends when as
/// many messages as were asked for have come, or after enough messages and time; then the receiver
/// tells the sender to stop, takes what is under way, and counts it no more.
std::vector<Stream> stream(Communicator& comm, const Clock& clock, const Load& load,
                           const std::vector<int>& to, const std::vector<int>& from);

}  // namespace ucxbench::p2p
