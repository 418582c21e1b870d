#pragma once

#include <cstdint>

#include "workloads/common/parameters.hpp"

namespace ucxbench::halo {

struct Parameters : WorkloadParameters {
  Parameters() { ignore_bytes = 1; }  ///< edges are small messages

  std::uint64_t size = 4096;      ///< rows and columns of a rank's tile, elements of each edge
  std::uint64_t steps = 10;       ///< of one run
  bool bulk_synchronous = false;  ///< exchange, then compute, without overlap
};

/// With strong scaling the size that was asked for is the whole domain's: each rank has as many
/// elements as all together divided by their number.
void settle(Parameters& parameters);

/// Bytes of all ranks' tiles, as often as a run goes over them.
std::uint64_t input_bytes(const Parameters& parameters);

/// Throws Failure(Exit::usage) for tiles that do not fit into the host's memory, if they are to be
/// there, with the size that does.
void check(const Parameters& parameters, const Local& local);

}  // namespace ucxbench::halo
