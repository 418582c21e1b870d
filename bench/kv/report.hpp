#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/kv/layout.hpp"
#include "harness/core/json.hpp"
#include "harness/result/result.hpp"
#include "harness/run/together.hpp"

namespace ucxbench::kv {

/// A round, in microseconds of each rank's own clock, which begins when the rank has left the
/// meeting before it. For each rank that posts: until the last post
/// has returned, and until all operations are done. For each decode rank: until it knows that its
/// first layer is there; where that rank does not post, since the first one that does has begun.
/// For each pair: until all its operations are done, by the clock of the rank
/// that posts.
struct Round {
  struct PairTime {
    int src, dst;  ///< ranks: that has the cache, that needs it
    double us;
  };
  std::vector<double> post_us{}, done_us{}, first_layer_us{};
  std::vector<PairTime> pairs{};
  Met meeting{};
  // By the clock of the meeting; 0: none.
  std::uint64_t end_ns = 0;          ///< of a rank that posts
  std::uint64_t first_layer_ns = 0;  ///< of a decode rank that does not
  double span_ns = 0;  ///< of all ranks, from the first one's begin to the last one's end
};

/// A session: each rank registers its memory and exchanges keys once.
struct Session {
  std::vector<double> register_us{}, prepare_us{};
  std::vector<Round> rounds{};
};

/// One rank's part of a session; the rest is empty. `clock`: which clock its meetings are by.
Json to_json(const Session& session, const std::string& clock);
/// The parts of all ranks in one.
Session session_of(const std::vector<Json>& ranks);

/// The samples of a launch, without rounds that are too short for the clock's steps. GB/s of a
/// round is the bytes that all decode ranks get, over the span of all ranks. Of each pair, the
/// median rate of later rounds: its bytes, over the time until they were all there.
LaunchRecord record_of(const std::vector<Session>& sessions, const Layout& layout,
                       double clock_step_ns);

}  // namespace ucxbench::kv
