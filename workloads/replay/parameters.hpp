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
  // From the log:
  std::string traffic{};  ///< its name, which differs for other traffic
  std::uint64_t messages = 0, traffic_bytes = 0;
  double recorded_ms = 0;  ///< how long it took then
};

/// The messages to replay; a log is read once. Throws Failure(Exit::usage).
const Traffic& traffic_of(const Parameters& parameters);

int ranks_of(const Parameters& parameters);
/// Fills in what is in the log.
void settle(Parameters& parameters);
/// Throws Failure(Exit::usage) if the messages are to be in host memory and do not fit.
void check(const Parameters& parameters, const Local& local);

}  // namespace ucxbench::replay
