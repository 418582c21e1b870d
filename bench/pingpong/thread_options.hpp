#pragma once

#include "bench/pingpong/parameters.hpp"
#include "harness/core/field.hpp"

namespace ucxbench::pingpong {

/// --threads, --workers and --endpoints: axes of the cases.
Fields<Parameters> thread_fields();

/// For a case's title, from its parameters: ", 4 threads, a worker each, 2 endpoints"; empty for
/// one of each.
std::string threads_told(const Json& parameters);

/// Refuses what several threads or endpoints cannot have.
void check_threads(const Parameters& p);

}  // namespace ucxbench::pingpong
