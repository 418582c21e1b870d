#pragma once

#include <vector>

#include "harness/report/sections.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// For a run of loggp: the parameters of each range of sizes, and the error of the model.
std::vector<Section> loggp_sections(const Result& result);

}  // namespace ucxbench
