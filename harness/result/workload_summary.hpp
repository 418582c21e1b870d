#pragma once

#include "harness/result/result.hpp"

namespace ucxbench {

/// Fills `phases`, `exchange` and `pairs` of a case whose launches are of a workload: of every
/// number the median over the launches, with its interval (interval.hpp) under `intervals`; bytes
/// and messages of a pair are the sum. Of more pairs than most_pairs_with_intervals it has none. A
/// phase's "slowest_rank" is the rank whose median over launches is largest, and "slowest_ms" is
/// that median; null where launches do not tell ranks apart.
void summarize_workload(Case& measured);

}  // namespace ucxbench
