#pragma once

#include <span>

namespace ucxbench {

/// Whether values go one way in the order in which they were measured.
struct Trend {
  double p = 1;       ///< two-sided, of values without order going one way at least as much
  double change = 0;  ///< from the first to the last, relative: 0.1 is 10 % more
};

/// The Mann-Kendall test (Mann, Econometrica 13, 1945; Kendall, Rank Correlation Methods, 1975): p
/// is exact up to 100 values if none are equal, else the normal approximation corrected for ties
/// and continuity. The change is Sen's slope (Sen, J. Am. Stat. Assoc. 63, 1968) of the logarithms,
/// over the whole length. Values are positive; of fewer than two nothing is said.
Trend trend_of(std::span<const double> values);

}  // namespace ucxbench
