#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::loggp {

/// One end of the pair, with the message that it sends and the place of what it receives.
struct End {
  Communicator& comm;
  const Clock& clock;
  std::span<const std::byte> sends;
  std::span<std::byte> receives;
};

/// Above the number of messages of a train.
inline constexpr std::uint64_t most_train = 1024;

// What is timed, after Hoefler, Lichei and Rehm, Low-Overhead LogGP Parameter Assessment for Modern
// Interconnection Networks (IPDPS 2007), but that overheads are timed where they arise. Both ranks
// call each function, with the same numbers; rank 0 gets its ticks of the clock, `count` of them.

/// Trains of `messages` one behind the other, then one back. They are received in advance.
std::vector<std::uint64_t> time_trains(const End& end, int messages, int count);

/// What sending takes of rank 0: the call that begins it, and what is left to do when it was busy
/// with other things for `delay` ticks.
std::vector<std::uint64_t> time_sends(const End& end, std::uint64_t delay, int count);

/// The same of receiving a message that comes during the delay.
std::vector<std::uint64_t> time_receives(const End& end, std::uint64_t delay, int count);

}  // namespace ucxbench::loggp
