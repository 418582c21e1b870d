#pragma once

#include <vector>

#include "harness/report/sections.hpp"
#include "harness/result/cases.hpp"

namespace ucxbench {

/// What UCX expected of latency and bandwidth beside what was measured, size by size, with the
/// protocols and the sizes that have them; nothing without --expected.
std::vector<Section> expected_sections(const Block& block);

}  // namespace ucxbench
