#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/report/view.hpp"

namespace ucxbench {

/// The last column of against_limits, which is long.
inline constexpr const char* limited_by = "limited by";

/// "16 MiB, one pair at a time".
std::string matrix_title(const Case& of);

/// One row per case: the spread of the pairs' medians, and what all reach together.
Grid matrix_rates_of(const Block& block);

/// Rows send, columns receive; GB/s, of a pair's medians or another of its fields. Marked where it
/// is below four fifths of the median of all pairs. Empty above 16 ranks.
Grid matrix_of(const Case& of, const char* field = "p50_GBps");

/// Of its cells, for its title: ", 95% CI at most 12 % wide", relative to the median; empty where
/// none has an interval.
std::string widest_interval(const Case& of, const char* field = "p50_GBps");

/// The ten slowest pairs, if there are more than that.
Grid slowest_of(const Case& of);

/// What pairs reach of what their links carry, or of what host memory was calibrated to: one row
/// for those of one class that went one way, and by whose word. More than a calibrated figure is
/// marked "(above)". Empty where nothing is known of that.
Grid against_limits(const Case& of);

/// How far the two directions of a pair are apart at most; empty where that is not known.
std::string asymmetry_of(const Case& of);

}  // namespace ucxbench
