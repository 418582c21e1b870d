#pragma once

#include <fmt/format.h>

#include <string>

#include "bench/pingpong/parameters.hpp"
#include "harness/core/failure.hpp"

namespace ucxbench::pingpong {

// Of options that cannot be had together: one line each, which says what to give or to leave out.

[[noreturn]] inline void refuse(const std::string& option, const std::string& why) {
  throw Failure(Exit::usage, option + ": " + why);
}

inline void refuse_other_devices(const Parameters& p, const std::string& option) {
  if (p.comm == CommKind::ucx) return;
  refuse(option, fmt::format("this is of UCX alone; leave it or --comm {} out", to_string(p.comm)));
}

inline bool on_gpu_or_pinned(const Parameters& p) {
  return needs_cuda(p.sent_from()) || needs_cuda(p.received_into());
}

}  // namespace ucxbench::pingpong
