#pragma once

#include <optional>
#include <vector>

namespace ucxbench {

/// How much more there is at the end of a series than at its begin.
struct Growth {
  double total;  ///< by the median slope of all pairs (Theil and Sen)
  double least;  ///< by the lower end of that slope's 95 % confidence interval (Sen 1968)
};

/// Below so many values nothing is said.
inline constexpr std::size_t least_for_growth = 10;

/// Of values at equal distances, without the first quarter, in which libraries and allocators take
/// what they keep. Empty: too few.
std::optional<Growth> growth_of(std::vector<double> values);

}  // namespace ucxbench
