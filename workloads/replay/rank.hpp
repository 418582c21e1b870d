#pragma once

#include "harness/run/benchmark.hpp"

namespace ucxbench::replay {

/// A rank's part in all cases of its plan.
void run_rank(RankContext& context);

}  // namespace ucxbench::replay
