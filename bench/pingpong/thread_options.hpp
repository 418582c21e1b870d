#pragma once

#include "bench/pingpong/parameters.hpp"
#include "harness/core/field.hpp"

namespace ucxbench::pingpong {

/// --threads, --workers and --endpoints: axes of the cases.
Fields<Parameters> thread_fields();

/// Refuses what several threads or endpoints cannot have.
void check_threads(const Parameters& p);

}  // namespace ucxbench::pingpong
