#pragma once

#include <string>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Tells each row what carried its bytes in either run, and over what medium: of a row of one pair
/// by that pair's launches, else by those of all. Where the two differ, a change has this as its
/// reason. Returns a line for each such difference: "transport used: base shm, new tcp: 2 of 4
/// rows, the first KEY METRIC".
std::vector<std::string> compare_carriers(std::vector<SeriesChange>& series, const Result& base,
                                          const Result& now);

}  // namespace ucxbench
