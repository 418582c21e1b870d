#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bench/pingpong/message_axes.hpp"
#include "harness/comm/choices.hpp"
#include "harness/run/place.hpp"

namespace ucxbench::pingpong {

/// How much of the payload is compared byte by byte, outside the clock.
enum class Check { off, sample, full };

/// What messages come from and go to: one buffer each, used again and again; or memory that no
/// cache holds.
enum class Buffers { warm, cold };

/// Which ranks play with each other.
enum class Pairs {
  neighbours,  ///< 2k and 2k + 1, all the time
  every,       ///< each with every other, in rounds of disjoint pairs
};

/// What threads of a rank send and receive by: each by a worker of its own, or all by one.
enum class Workers { own, shared };
std::string_view to_string(Workers workers);

/// One case.
struct Parameters : Place, MessageAxes {
  Api api = Api::tag;
  std::uint64_t bytes = 8;
  int threads = 1;  ///< of each rank, that play at the same time: one with the peer's of its number
  Workers workers = Workers::own;
  int endpoints = 1;  ///< of each thread, to its peer; messages take them in turn
  Buffers buffers = Buffers::warm;
  Pairs pairs = Pairs::neighbours;
  int window = 32;
  bool latency = true;
  /// After a latency loop it is the bandwidth of a connection with a history, which a TCP socket
  /// does not forget (docs/method/fidelity.md); alone, what ucx_perftest's bandwidth tests see.
  bool bandwidth = true;
  bool bidirectional = false;
  bool enable_rdmacm = false;  ///< connect_by sockaddr, over InfiniBand
  int warmup_runs = 1;
  std::optional<std::uint64_t> iterations;               ///< fixed; else from the time
  std::chrono::nanoseconds max_time{400'000'000};        ///< measuring time of all launches
  std::chrono::nanoseconds time_per_launch{66'666'666};  ///< of one
  Check check = Check::sample;
  bool expected = false;  ///< also what UCX expected each message to take

  /// In how many rounds; 1 where pairs stay.
  std::size_t rounds() const;

  /// Of the buffer to send from, and of that to receive into: `bytes`, of each thread; of cold ones
  /// twice the last-level cache (64 to 512 MiB), or two messages if they are larger.
  std::uint64_t buffer_bytes() const;
  /// Places in them for messages that are compared one by one: a window, as far as it fits 4 MiB,
  /// but two at least of messages up to 64 MiB; one where a link has one (LinkBuffers::places).
  std::size_t checked_places() const;
};

}  // namespace ucxbench::pingpong
