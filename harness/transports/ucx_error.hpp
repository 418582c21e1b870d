#pragma once

#include <ucs/type/status.h>

#include <source_location>
#include <string_view>

#include "harness/core/failure.hpp"

namespace ucxbench {

[[noreturn]] void throw_ucx_failure(ucs_status_t status, std::string_view call, Exit exit,
                                    std::source_location where);

/// Throws Failure(exit) naming the call, UCX's own words and where, unless `status` is UCS_OK.
inline void check(ucs_status_t status, std::string_view call, Exit exit = Exit::lost,
                  std::source_location where = std::source_location::current()) {
  if (status != UCS_OK) [[unlikely]]
    throw_ucx_failure(status, call, exit, where);
}

}  // namespace ucxbench
