#pragma once

#include <vector>

#include "harness/analysis/comparison/weigh.hpp"

namespace ucxbench {

/// Names times whose slow end moved though their median did not: verdicts are of medians alone.
/// Each launch's p99 is held against those of the other run, by the same rank test and over all
/// launches, corrected for all rows; a move counts that is above least_that_matters by its whole
/// interval. It is a remark on a row that has none of the same direction as its verdict.
void look_at_tails(std::vector<Row>& rows, const TwoRuns& runs, double alpha);

}  // namespace ucxbench
