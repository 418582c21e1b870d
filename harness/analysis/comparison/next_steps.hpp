#pragma once

#include <string>
#include <vector>

#include "harness/analysis/comparison/comparison.hpp"

namespace ucxbench {

/// What would give verdicts to the series that have none for want of launches or of quiet: a line
/// for each kind, with their number. Launches are named only as far as they are worth a try;
/// beyond that the machine has to be quieter. `now` says where launches are asked for.
std::vector<std::string> next_steps(const Comparison& comparison, const Result& now);

}  // namespace ucxbench
