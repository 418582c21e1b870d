#pragma once

#include <ucp/api/ucp.h>

#include <memory>

#include "bench/pingpong/loops.hpp"
#include "harness/comm/choices.hpp"
#include "harness/core/clock.hpp"

namespace ucxbench::pingpong {

/// Over one endpoint of UCX.
std::unique_ptr<Loops> make_ucx_loops(Api api, ProgressMode mode, Role role, const Clock& clock,
                                      ucp_worker_h worker, ucp_ep_h endpoint);

}  // namespace ucxbench::pingpong
