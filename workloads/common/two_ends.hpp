#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "harness/comm/communicator.hpp"
#include "harness/comm/transfer_log.hpp"
#include "harness/run/together.hpp"

namespace ucxbench {

// A receiver knows when it posted a receive and when the message had come, but not when it was
// sent. What came before the receive was posted seems to take no time at all, and a receive that
// waits for its sender seems slow. So both ends tell each other when they were posted.

/// A message as one of its ends saw it, and when its other end was posted. All times are by this
/// end's CLOCK_MONOTONIC, in nanoseconds.
struct TwoEnds {
  Transfer own{};
  /// The other end was posted between these, whose distance is how well the two clocks are known.
  /// As they are here, nothing is known of it.
  std::uint64_t other_earliest_ns = 0;
  std::uint64_t other_latest_ns = std::numeric_limits<std::uint64_t>::max();

  bool other_known() const { return other_latest_ns != std::numeric_limits<std::uint64_t>::max(); }
  /// From when both ends were ready until this one had ended. Before that one end waits for the
  /// other, which is no communication. An end of which nothing is known counts as ready.
  Stretch under_way() const;
  /// Of a message that was received: from its sending until it had come, at most. Its bytes moved
  /// within that time, whether or not the receiver was ready.
  Stretch longest() const { return {other_earliest_ns, own.completed_ns}; }
};

/// Both ends of this rank's messages of one run. `records` are all that it logged of the run, and
/// `complete` says that none was dropped; of two ranks of which one has dropped some, nothing is
/// known. `met`: this rank's part of the meeting before the run. All ranks call it together.
std::vector<TwoEnds> two_ends_of(Communicator& comm, std::span<const Transfer> records,
                                 bool complete, const Met& met);

/// What one rank received from another, and how fast it came. A rate is of the time from the
/// sending until the message had come, so that it is never too high. It is of those messages alone
/// of which the two ends, and the two clocks, leave less than half of that time open: where the
/// receiver came later, eager data may have come before it, and rendezvous data have not. Where
/// these are less than half of all, there is no rate.
class TimedMessages {
 public:
  /// `least_bytes`: of those that quartiles_GBps() looks at.
  explicit TimedMessages(std::uint64_t least_bytes = 0) : least_bytes_(least_bytes) {}

  /// A message that was received.
  void add(const TwoEnds& received);

  std::uint64_t bytes() const { return bytes_; }        ///< of all messages
  std::uint64_t messages() const { return messages_; }  ///< all of them

  /// Their bytes, and the time in which at least one of them was under way.
  struct Moved {
    std::uint64_t bytes, ns;

    /// Empty for a time that is too short for a clock of such steps.
    std::optional<double> goodput_GBps(double clock_step_ns) const;
  };
  std::optional<Moved> moved() const;
  std::optional<double> goodput_GBps(double clock_step_ns) const;
  /// p25, p50 and p75 of the messages' own rates.
  std::vector<double> quartiles_GBps(double clock_step_ns) const;
  /// The median time from a message's sending until it had come, of all messages: with what it
  /// waited for a receiver that was not ready. Empty where the two clocks leave half of it open for
  /// most messages.
  std::optional<double> delivery_us() const;

 private:
  struct Timed {
    Stretch when;
    std::uint64_t bytes;
  };

  std::uint64_t least_bytes_;
  std::uint64_t bytes_ = 0, messages_ = 0, large_ = 0;
  std::vector<Timed> timed_;
  std::vector<double> deliveries_us_;
};

}  // namespace ucxbench
