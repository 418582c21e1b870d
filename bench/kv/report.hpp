#pragma once

#include <cstdint>
#include <vector>

#include "bench/kv/layout.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench::kv {

/// A round, in microseconds of each rank's own clock: of each that posts, until the last post has
/// returned, and until all is done; of each that decodes, until it knows that its first layer is.
struct Round {
  std::vector<double> post_us{}, done_us{}, first_layer_us{};
};

/// Memory is registered once, and the keys to it exchanged: by each rank, and in all.
struct Session {
  std::vector<double> register_us{}, prepare_us{};
  std::vector<Round> rounds{};
};

/// What one rank has of a session; the rest is empty.
Json to_json(const Session& session);
/// Of all ranks one.
Session session_of(const std::vector<Json>& ranks);

/// The samples of a launch, those too short for a clock of such steps left out. GB/s of a round is
/// what all decode ranks get by the time of the rank that was done last.
LaunchRecord record_of(const std::vector<Session>& sessions, const Layout& layout,
                       double clock_step_ns);

}  // namespace ucxbench::kv
