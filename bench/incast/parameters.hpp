#pragma once

#include <cstdint>
#include <optional>

#include "harness/run/place.hpp"

namespace ucxbench::incast {

/// The rank that all others send to and receive from, and the one whose round trips with it are
/// timed.
inline constexpr int hot_rank = 0;
inline constexpr int probe_rank = 1;

/// How long a run of each kind lasts, if it does not say of how many messages it is, and how many
/// from each sender it has then at least.
inline constexpr double load_ms = 20;
inline constexpr std::uint64_t least_messages = 16;

/// Round trips with nothing beside them, in each run; and how much longer than others a load lasts
/// that they are beside, so that there are enough for percentiles.
inline constexpr std::uint64_t lone_round_trips = 1000;
inline constexpr std::uint64_t longer_beside = 5;

struct Parameters : Place {
  std::uint64_t bytes = std::uint64_t{64} << 10U;
  int window = 8;                   ///< messages outstanding, per sender and receiver
  std::optional<int> iterations{};  ///< messages from each sender; empty: what takes load_ms
  int warmup_runs = 1;
  int runs = 3;
};

}  // namespace ucxbench::incast
