#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::incast {

/// One rank's part of a load: the same message to or from the hot rank, or of the hot rank to or
/// from each other.
struct Load {
  std::span<const std::byte> send;
  std::vector<std::span<std::byte>> receive;  ///< by rank; of others than the hot one all alike
  int window = 1;
  std::uint64_t messages = 1;  ///< of each pair
};

/// Ticks from before the first message to each one's last, by the receiver's clock: by the rank
/// that sent, 0 where none did. They begin before a barrier that all ranks have to reach before any
/// sends, so no message has come by then; its time is part of theirs. So the longest of them is no
/// shorter than from the first begin to the last end, whichever rank's clock it is by. All ranks
/// call these together.
std::vector<std::uint64_t> many_to_one(Communicator& comm, const Clock& clock, const Load& load);
std::vector<std::uint64_t> one_to_many(Communicator& comm, const Clock& clock, const Load& load);

/// What the hot rank received, of so many messages of so many bytes from each sender: all of it by
/// the slowest sender's time, and the slowest sender's rate by the fastest one's. 0 where the clock
/// has seen nothing.
struct Shares {
  double GBps = 0, fairness = 0;
};
Shares shares_of(std::span<const double> sender_ns, double bytes_of_sender);

}  // namespace ucxbench::incast
