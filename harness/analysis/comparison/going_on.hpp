#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

// What `ab` measures beyond the launches of all cases. Nothing is tested for it, so it may depend
// on all that was measured (looks.hpp).

/// Keys of the cases with a row of duets that is not decided, the most promising first: of which
/// all duets of such a row are the least likely to be chance.
std::vector<std::string> undecided_cases(const Result& base, const Result& now,
                                         const Demands& demands);

/// After `done` launches, how many cases to measure on until `next`, where there is time for so
/// many launches of one case: one that gets to the furthest of `looks` that the time allows, and
/// others with half of what that leaves, rounded up. None where it allows no look.
std::size_t affordable_cases(const std::vector<int>& looks, int done, int next,
                             double launches_of_one);

}  // namespace ucxbench
