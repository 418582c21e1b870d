#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/pingpong/loops.hpp"
#include "bench/pingpong/pair.hpp"
#include "bench/pingpong/parameters.hpp"
#include "harness/core/clock.hpp"
#include "harness/launch/duet.hpp"
#include "harness/memory/buffer.hpp"
#include "harness/result/result.hpp"
#include "harness/run/checks.hpp"

namespace ucxbench::pingpong {

/// What both ranks of a pair need to measure one case after the other.
struct Bench {
  Pair& pair;
  Loops& loops;
  Loops& one_way;  ///< over the connection on which the follower never sends
  const Clock& clock;
  Buffer& send;                          ///< at least as large as the largest case
  Buffer& receive;                       ///< likewise
  const Rendezvous::Progress& progress;  ///< moves both connections
  MessageForm form{};                    ///< of the case's messages
  DuetRank* duet = nullptr;              ///< RankContext's

  /// For `bytes` of both buffers.
  LinkBuffers buffers(std::uint64_t bytes, int window, bool many_sends) const {
    return {.send = send.data(),
            .receive = receive.data(),
            .bytes = bytes,
            .window = window,
            .many_sends = many_sends,
            .send_kind = send.kind(),
            .receive_kind = receive.kind(),
            .form = form,
            .room = std::min(send.size(), receive.size())};
  }
};

/// The lead's result; on the follower it is incomplete and of no use.
struct Measured {
  LaunchRecord record;
  Checks checks;  ///< of both ranks
};

/// What the peer acts on, where it does: of get what it reads, else what it changes. Both ranks
/// call it; `loops` withdraw it before the buffers go.
void expose(Loops& loops, Api api, Buffer& send, Buffer& receive);

/// How many iterations take so long, each taking `iteration_s`: a few at least, which are fewer
/// where one takes a tenth of a second, and never more than stamps have room for.
std::uint64_t iterations_in(double time_s, double iteration_s);

/// Measures one case. Both ranks of the pair call it with equal parameters; throws Failure. What is
/// finished goes to `publish` with each metric.
Measured measure(const Bench& bench, const Parameters& parameters,
                 const std::function<void(const LaunchRecord&)>& publish);

}  // namespace ucxbench::pingpong
