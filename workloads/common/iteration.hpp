#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/comm/transfer_log.hpp"
#include "harness/core/clock.hpp"
#include "harness/core/json.hpp"
#include "workloads/common/phases.hpp"
#include "workloads/common/two_ends.hpp"

namespace ucxbench {

/// What one rank says of one measured iteration, in nanoseconds and bytes.
struct Iteration {
  Met met{};                   ///< the meeting of all ranks before it
  std::uint64_t began_ns = 0;  ///< by this rank's CLOCK_MONOTONIC, as all but durations here
  std::uint64_t wall_ns = 0;
  std::vector<std::uint64_t> phase_ns;
  /// In what moves messages, while a phase computed; empty where it was never timed.
  std::optional<std::uint64_t> progress_ns{};
  /// Both ends of all messages, where the workload itself had to know them; else what measures it
  /// takes them from the transfer log. They are not part of the JSON.
  std::optional<std::vector<TwoEnds>> messages{};
  /// With a message under way of which both ends were ready; empty without a transfer log.
  std::vector<Stretch> busy{};
  /// From when what this rank received was sent until it had come; nothing without a transfer log,
  /// or where it lacks some of the messages.
  std::optional<std::vector<Stretch>> carried{};
  std::uint64_t sent_bytes = 0, received_bytes = 0;
  /// Of received_bytes, those of each phase, where phases exchange apart; else empty.
  std::vector<std::uint64_t> phase_bytes{};
  /// From when each phase was first entered until it was last left; of one that never
  /// was, 0. Not needed without phase_bytes.
  std::vector<Stretch> phase_when{};
  /// Where that is known: by rank, how long this one waited for it, and did nothing else.
  std::vector<std::uint64_t> waited_ns{};
};

/// Sets `busy` and `carried`.
void look_at_messages(Iteration& iteration, const std::vector<TwoEnds>& messages);

/// Without the bytes.
Iteration iteration_of(const PhaseClock& phases, std::size_t phase_count, const Clock& clock);

/// What one rank received from another over all measured iterations, by the transfer log.
struct Inflow {
  int src = 0, dst = 0;
  std::uint64_t bytes = 0, messages = 0;
  std::vector<double> quartiles_GBps{};      ///< TimedMessages, of at least --ignore-size
  std::optional<double> goodput_GBps{};      ///< TimedMessages
  std::optional<double> delivery_us{};       ///< TimedMessages
  std::optional<std::uint64_t> waited_ns{};  ///< Iteration::waited_ns, of all
};

Json to_json(const Iteration& iteration);
Json to_json(const Inflow& inflow);
Iteration parse_iteration(const Json& json);
Inflow parse_inflow(const Json& json);

}  // namespace ucxbench
