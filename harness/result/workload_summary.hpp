#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Fills `phases`, `exchange` and `pairs` of a case whose launches are of a workload: of every
/// number the median over the launches, bytes and messages of a pair the sum.
void summarize_workload(Case& measured);

}  // namespace ucxbench
