#pragma once

#include <string>
#include <vector>

#include "harness/analysis/comparison/weigh.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Up to so many pairs of a case have a row each, which is those of 64 ranks. Of more, all pairs
/// from one host to another have one row together: of the slowest of them in each launch.
inline constexpr std::size_t most_pair_rows = std::size_t{64} * 63;

/// What of a workload's messages is known of each pair in each launch: GB/s from when the receive
/// was posted, the median of a launch's messages. Only rows of pairs have it.
inline constexpr const char* pair_metric = "pair_GBps";

/// Whether both runs have this metric of the same pairs of ranks. A median over other pairs changes
/// although no pair did. True where neither run has several pairs.
bool have_same_pairs(const std::string& metric, const Case& base, const Case& now);

/// A row for each pair of ranks of which launches have this metric, as weigh() makes it of a case
/// that has this pair alone. Empty where neither run has it of more than one pair.
std::vector<Row> rows_of_pairs(const std::string& metric, const TwoRuns& runs, const Case& base,
                               const Case& now, const Demands& demands);

}  // namespace ucxbench
