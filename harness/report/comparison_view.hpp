#pragma once

#include <string>

#include "harness/analysis/comparison.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {

/// "2 regressed, 46 unchanged", or why there is no verdict at all.
std::string summary_of(const Comparison& comparison);

/// One row per series.
Grid grid_of(const Comparison& comparison);

/// For the terminal, and for a step summary.
std::string comparison_table(const Comparison& comparison);
std::string comparison_markdown(const Comparison& comparison);

/// {"alpha", "tests", "incomparable", "host_changed", "differences", "canaries", "series": [{"key",
/// "metric", "verdict", "base", "new", "base_launches", "new_launches", "ratio", "interval", "p",
/// "p_corrected", "floor", "base_drift", "new_drift" (relative, first launch to last),
/// "base_modes", "new_modes" ({"low", "high", "share_high"}), "why"}]}, a canary like a series;
/// unknown, or not there, is null.
Json comparison_json(const Comparison& comparison);

}  // namespace ucxbench
