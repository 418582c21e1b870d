// Preloaded into the ranks by the study of verdicts: makes a rank slower by a share of what it
// takes anyway, whatever the machine. Before each message that rank 0 posts it waits for SLOW_SHARE
// (0.05) of the time since the one before, so that a ping-pong's round trip takes 1 + SLOW_SHARE
// times as long; where another process works on meanwhile, less comes through. 0 costs what reading
// the clock does, and makes the other side of a comparison.

#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "shim.hpp"

namespace {

using Clock = std::chrono::steady_clock;

// A longer pause is none of the load: ranks start, or wait for each other between cases.
constexpr std::chrono::milliseconds longest_pause{500};

double share_of_this_rank() {
  const char* rank = std::getenv("UCXBENCH_INTERNAL_RANK");
  const char* share = std::getenv("SLOW_SHARE");
  const bool slow = rank != nullptr && share != nullptr && std::strcmp(rank, "0") == 0;
  return slow ? std::atof(share) : 0;
}

Clock::time_point posted{};

void stretch() {
  static const double share = share_of_this_rank();
  const auto now = Clock::now();
  if (posted != Clock::time_point{} && now - posted < longest_pause) {
    const auto until = now + std::chrono::duration_cast<Clock::duration>((now - posted) * share);
    while (Clock::now() < until) {
    }
  }
  posted = Clock::now();
}

}  // namespace

extern "C" {

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                  ucp_tag_t tag, const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_tag_send_nbx)>("ucp_tag_send_nbx");
  stretch();
  return real(endpoint, buffer, count, tag, parameters);
}

ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count,
                                     const ucp_request_param_t* parameters) {
  static const auto real = next<decltype(ucp_stream_send_nbx)>("ucp_stream_send_nbx");
  stretch();
  return real(endpoint, buffer, count, parameters);
}

}  // extern "C"
