#pragma once

#include <cstdint>
#include <optional>

#include "harness/result/shows.hpp"
#include "harness/run/place.hpp"

namespace ucxbench::p2p {

/// How long a stream lasts at least, if it does not say of how many messages it is; and how many it
/// has then.
inline constexpr double stream_ms = 20;
inline constexpr std::uint64_t least_messages = 16;

/// In a duet a stream lasts so long at least, and has a window of messages. A block is the median
/// of so many, since one that is interrupted says nothing; where windows are larger it is one.
/// There are at least so many quads of blocks.
inline constexpr double duet_stream_ms = 0.8;
inline constexpr std::uint64_t duet_streams = 5;
inline constexpr std::uint64_t largest_duet_window = std::uint64_t{16} << 20U;
inline constexpr int least_duet_quads = 8;

struct Parameters : Place {
  std::uint64_t bytes = std::uint64_t{16} << 20U;
  Concurrent concurrent = Concurrent::one;
  int window = 8;                   ///< messages outstanding, per pair
  std::optional<int> iterations{};  ///< messages of a stream; empty: what takes stream_ms
  int warmup_runs = 1;
  int runs = 3;  ///< measured streams of each pair and launch
};

}  // namespace ucxbench::p2p
