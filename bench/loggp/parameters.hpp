#pragma once

#include <cstdint>

#include "harness/run/place.hpp"

namespace ucxbench::loggp {

struct Parameters : Place {
  std::uint64_t bytes = 1024;
  int train = 32;        ///< messages one behind the other
  int iterations = 100;  ///< of each kind, in each launch
  int warmup_runs = 20;  ///< uncounted ones of each kind before
};

}  // namespace ucxbench::loggp
