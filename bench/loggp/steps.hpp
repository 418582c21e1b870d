#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::loggp {

/// One end of the pair, with the message that it sends and the memory that it receives into.
struct End {
  Communicator& comm;
  const Clock& clock;
  std::span<const std::byte> sends;
  std::span<std::byte> receives;
};

/// The most messages of a train.
inline constexpr std::uint64_t most_train = 1024;

// After Hoefler, Lichei and Rehm, Low-Overhead LogGP Parameter Assessment for Modern
// Interconnection Networks (IPDPS 2007), except that overheads are timed directly. Both ranks call
// each function with the same numbers. Rank 0 gets `count` times in ticks of the clock, the other
// rank none.

/// Trains of `messages` sent back to back, each answered by one message. Receives are posted
/// before.
std::vector<std::uint64_t> time_trains(const End& end, int messages, int count);

/// Rank 0's overhead of sending: the call that starts the send, and what is left to do after it was
/// busy with other work for `delay` ticks.
std::vector<std::uint64_t> time_sends(const End& end, std::uint64_t delay, int count);

/// Its overhead of receiving a message that arrives during the delay.
std::vector<std::uint64_t> time_receives(const End& end, std::uint64_t delay, int count);

}  // namespace ucxbench::loggp
