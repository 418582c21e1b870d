#pragma once

#include <ucp/api/ucp.h>

#include <memory>

#include "bench/pingpong/loops.hpp"
#include "harness/comm/choices.hpp"
#include "harness/comm/ucx_one_sided.hpp"
#include "harness/comm/worker.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::pingpong {

/// Over one endpoint of UCX, whose other side calls it too. One-sided APIs have the modes poll and
/// periodic.
std::unique_ptr<Loops> make_ucx_loops(Api api, ProgressMode mode, Role role, const Clock& clock,
                                      const UcxWorker& worker, ucp_ep_h endpoint,
                                      const Exchange& exchange);

}  // namespace ucxbench::pingpong
