#pragma once

#include <cstddef>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/analysis/comparison/looks.hpp"
#include "harness/analysis/comparison/weigh.hpp"

namespace ucxbench {

/// Relative: what a user would want to hear of, if it were there.
inline constexpr double least_that_matters = 0.05;

/// Whether a factor is no more of a change than `floor`: of 50 %, from 1 / 1.5 to 1.5. So a loss
/// counts as much as a rate as it does as a time.
bool is_within(double factor, double floor);

/// Gives the rows of one family of tests their verdicts, as compare() says, and returns how many
/// were tested. Rows of duets are judged at each look, and keep what was found at the one at which
/// they were decided or which was the last before they were left out; rows of launches
/// are judged at the end, with all that drift and placements tell of them. Rows of single pairs for
/// which there are too few launches, or `planned_duets`, to be found among all rows are none of the
/// tests, so that they hide no other row's verdict; what is said of them is that.
std::size_t judge(std::vector<Row>& rows, const std::vector<Look>& looks, const Demands& demands,
                  int planned_duets = 0);

}  // namespace ucxbench
