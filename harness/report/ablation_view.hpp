#pragma once

#include <string>
#include <vector>

#include "harness/report/sections.hpp"

namespace ucxbench {

/// What a run says of its ways of communicating (Result::ablation), a table for each entry that
/// is shown: "ways, merge, host to host: time, 4 ranks".
std::vector<Section> ablation_sections(const Result& result);

}  // namespace ucxbench
