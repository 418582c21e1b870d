#pragma once

#include <string>
#include <vector>

#include "harness/analysis/comparison/same_ranks.hpp"
#include "harness/analysis/comparison/weigh.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Up to so many pairs of a case have a row each, which is those of 64 ranks. Of more, all pairs
/// from one host to another have one row together: of the slowest of them in each launch.
inline constexpr std::size_t most_pair_rows = std::size_t{64} * 63;

/// What is known of a workload's messages between each two ranks in each launch, the median of
/// them: their rate, or the time from their sending until they had come. Only rows of pairs have
/// it.
inline constexpr const char* pair_rate = "pair_GBps";
inline constexpr const char* pair_time = "pair_us";

/// The rate where all pairs have it in all launches of both runs, else the time: of small messages,
/// or of those that came before their receivers were ready, there is no rate. Null where one of two
/// files is of before there was such a time: its rates are of another time, and may be too high.
const char* pair_metric_of(const Case& base, const Case& now);

/// Whether both runs have this metric of the same pairs of ranks. A median over other pairs changes
/// although no pair did. True where neither run has several pairs, nor several hosts.
bool have_same_pairs(const std::string& metric, const SameRanks& same, const Case& base,
                     const Case& now);

/// A row for each pair of ranks of which launches have this metric, as weigh() makes it of a case
/// that has this pair alone, both runs' ranks being the `same`. Empty where neither run has it of
/// more than one pair, and the one is the same.
std::vector<Row> rows_of_pairs(const std::string& metric, const TwoRuns& runs,
                               const SameRanks& same, const Case& base, const Case& now,
                               const Demands& demands);

/// Whether a case has more than one pair in a launch.
bool has_pairs(const Case& of);

}  // namespace ucxbench
