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

namespace ucxbench {

/// Messages of which it is known when they were under way: their receive was posted before they
/// were sent. What is sent to a receiver that is not ready yet may wait for it, or travel
/// meanwhile.
struct UnderWay {
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;  ///< during which at least one of them was, from its sending to its end
};
/// Empty where these are less than half of `bytes`, which are those of all messages, and for a time
/// that is too short for such a clock.
std::optional<double> rate_GBps(const UnderWay& timed, std::uint64_t bytes, double clock_step_ns);

/// What one rank says of one measured iteration, in nanoseconds and bytes.
struct Iteration {
  Met met{};                   ///< the meeting of all ranks before it
  std::uint64_t began_ns = 0;  ///< by this rank's CLOCK_MONOTONIC, as all but durations here
  std::uint64_t wall_ns = 0;
  std::vector<std::uint64_t> phase_ns;
  /// In what moves messages, while a phase computed; empty where it was never timed.
  std::optional<std::uint64_t> progress_ns{};
  /// With a message under way; empty without a transfer log, from which it follows for a workload
  /// that does not set it.
  std::vector<Stretch> busy{};
  std::uint64_t sent_bytes = 0, received_bytes = 0;
  /// Of received_bytes, those of each phase, where phases exchange apart; else empty.
  std::vector<std::uint64_t> phase_bytes{};
  /// From when each phase was first entered until it was last left; of one that never
  /// was, 0. Not needed without phase_bytes.
  std::vector<Stretch> phase_when{};
  /// Where that is known: by rank, how long this one waited for it, and did nothing else.
  std::vector<std::uint64_t> waited_ns{};
  std::vector<UnderWay> under_way{};  ///< likewise, what came from each rank
};

/// Without the bytes.
Iteration iteration_of(const PhaseClock& phases, std::size_t phase_count, const Clock& clock);

/// What one rank received from another over all measured iterations, by the transfer log.
struct Inflow {
  int src = 0, dst = 0;
  std::uint64_t bytes = 0, messages = 0;
  std::vector<double> message_GBps{};        ///< of messages of at least --ignore-size
  std::uint64_t busy_ns = 0;                 ///< the union of all its messages' intervals
  std::optional<std::uint64_t> waited_ns{};  ///< Iteration::waited_ns, of all
  std::optional<UnderWay> under_way{};       ///< Iteration::under_way, of all
};
std::vector<Inflow> inflows_of(std::span<const Transfer> transfers, int rank, int ranks,
                               std::uint64_t ignore_bytes, double clock_step_ns);

Json to_json(const Iteration& iteration);
Json to_json(const Inflow& inflow);
Iteration parse_iteration(const Json& json);
Inflow parse_inflow(const Json& json);

}  // namespace ucxbench
