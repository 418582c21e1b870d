#pragma once

#include <cstdint>
#include <vector>

#include "bench/kv/layout.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"

namespace ucxbench::kv {

/// A round, in microseconds of each rank's own clock. For each rank that posts: until the last post
/// has returned, and until all operations are done. For each decode rank: until it knows that its
/// first layer is there.
struct Round {
  std::vector<double> post_us{}, done_us{}, first_layer_us{};
};

/// A session: each rank registers its memory and exchanges keys once.
struct Session {
  std::vector<double> register_us{}, prepare_us{};
  std::vector<Round> rounds{};
};

/// One rank's part of a session; the rest is empty.
Json to_json(const Session& session);
/// The parts of all ranks in one.
Session session_of(const std::vector<Json>& ranks);

/// The samples of a launch, without rounds that are too short for the clock's steps. GB/s of a
/// round is the bytes that all decode ranks get, over the time of the rank that finished last.
LaunchRecord record_of(const std::vector<Session>& sessions, const Layout& layout,
                       double clock_step_ns);

}  // namespace ucxbench::kv
