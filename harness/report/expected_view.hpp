#pragma once

#include <vector>

#include "harness/report/sections.hpp"
#include "harness/result/cases.hpp"

namespace ucxbench {

/// UCX's estimates of latency and bandwidth beside the measurements, for each size, with the
/// protocol and the sizes that use it. Empty without --expected.
std::vector<Section> expected_sections(const Block& block);

}  // namespace ucxbench
