#pragma once

#include <string>
#include <vector>

#include "harness/report/sections.hpp"

namespace ucxbench {

/// How the configurations of a run compare (Result::ablation): a table for each entry that is
/// shown, "configurations, merge, host to host: time, 4 ranks".
std::vector<Section> ablation_sections(const Result& result);

}  // namespace ucxbench
