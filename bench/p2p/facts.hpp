#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/run/checks.hpp"

namespace ucxbench::p2p {

/// A stream that came: of enough clock steps for a rate, or not.
struct Timed {
  std::uint64_t messages = 0;
  std::optional<double> per_s;
  std::uint64_t begin_ns = 0, end_ns = 0;
};

Json to_json(const std::vector<Timed>& streams);
Timed stream_from(const Json& of);
std::vector<Timed> streams_from(const Json& list);

/// What a rank knows of its own flows of a case, for rank 0, by the other rank's number, null where
/// there is none. Lists, since each of hundreds of ranks has one of each: received, [streams as
/// above, moved]; sent, [lanes, moved, payload_bytes]; moved as counted_here has it, or null. Of
/// each run of several pairs at once, Met of the meeting before it. The checks are of all that it
/// received.
struct Facts {
  explicit Facts(int ranks)
      : received(static_cast<std::size_t>(ranks)), sent(static_cast<std::size_t>(ranks)) {}
  Json::array_t received, sent;
  Checks checks;
  Json meetings = Json::array();
  std::uint64_t asleep_ns = 0;  // in measured streams, until there was something to do
};

}  // namespace ucxbench::p2p
