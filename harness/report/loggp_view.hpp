#pragma once

#include <vector>

#include "harness/report/sections.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Of a run of loggp: the parameters of each range of sizes, and how far the model is off.
std::vector<Section> loggp_sections(const Result& result);

}  // namespace ucxbench
