#pragma once

#include <cstdint>
#include <string>

#include "workloads/common/parameters.hpp"
#include "workloads/replay/traffic.hpp"

namespace ucxbench::replay {

struct Parameters : WorkloadParameters {
  std::string log;         ///< a run file, or a dump of Dask's
  std::string named_case;  ///< of the run file
  bool as_fast_as_possible = false;
  // What is in the log:
  std::string traffic{};  ///< its name, another one for any other traffic
  std::uint64_t messages = 0, traffic_bytes = 0;
  double recorded_ms = 0;  ///< how long it took then
};

/// What these parameters play again; a log is read once. Throws Failure(Exit::usage).
const Traffic& traffic_of(const Parameters& parameters);

int ranks_of(const Parameters& parameters);
/// Takes what is in the log.
void settle(Parameters& parameters);
/// Throws Failure(Exit::usage) where what is sent and received does not fit into the host's memory,
/// if it is to be there.
void check(const Parameters& parameters, const Local& local);

}  // namespace ucxbench::replay
