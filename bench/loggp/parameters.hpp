#pragma once

#include <cstdint>

#include "harness/run/place.hpp"

namespace ucxbench::loggp {

struct Parameters : Place {
  std::uint64_t bytes = 1024;
  int train = 32;        ///< messages that are sent back to back
  int iterations = 100;  ///< of each measurement, in each launch
  int warmup_runs = 20;  ///< iterations of each measurement that do not count
};

}  // namespace ucxbench::loggp
