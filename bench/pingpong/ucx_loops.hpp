#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <memory>
#include <span>

#include "bench/pingpong/loops.hpp"
#include "harness/comm/choices.hpp"
#include "harness/comm/ucx_one_sided.hpp"
#include "harness/comm/worker.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::pingpong {

/// Loops that one of several threads of a rank runs. Its peer is the thread of the same number.
struct LoopThread {
  unsigned number = 0;
  bool one_worker = false;  ///< of all threads; else each has its own
  const std::atomic<bool>* another_failed = nullptr;
};

/// Over endpoints of UCX to one peer, which messages take in turn; the other side calls it too.
/// One-sided APIs have the modes poll and periodic, and one endpoint. `thread`: null where there is
/// one only; else the mode is poll.
std::unique_ptr<Loops> make_ucx_loops(Api api, ProgressMode mode, Role role, const Clock& clock,
                                      const UcxWorker& worker, std::span<const ucp_ep_h> endpoints,
                                      const Exchange& exchange, const LoopThread* thread = nullptr);

}  // namespace ucxbench::pingpong
