#pragma once

#include <cstdint>

#include "workloads/common/parameters.hpp"

namespace ucxbench::svd {

struct Parameters : WorkloadParameters {
  Parameters() { ignore_bytes = 1; }  ///< factors are small messages

  std::uint64_t rows = 100'000;  ///< of a rank
  std::uint64_t columns = 64;    ///< of all
};

/// With strong scaling the rows that were asked for are all ranks'; those that do not divide by
/// their number are left out.
void settle(Parameters& parameters);

/// Bytes of all ranks' rows.
std::uint64_t input_bytes(const Parameters& parameters);

/// Throws Failure(Exit::usage) for fewer rows than columns, and for rows that do not fit into the
/// host's memory, with how many do.
void check(const Parameters& parameters, const Local& local);

}  // namespace ucxbench::svd
