#pragma once

#include <cstddef>
#include <span>

#include "harness/analysis/comparison/rank_tests.hpp"

namespace ucxbench {

// Of duets: each gives one logarithm of a ratio new/base.

/// The two-sided p-value of Wilcoxon's signed-rank test: the probability, if logarithms lie
/// symmetrically around 0, of a sum of ranks at least as far from its mean. Zeros are ranked and
/// count for neither side (Pratt, 1959), equal ones share their rank. Exact up to 100 values, above
/// by the normal approximation, corrected for continuity.
double signed_rank_p(std::span<const double> logs);

/// The smallest that so many duets can have.
double smallest_signed_rank_p(std::size_t duets);

/// The median of the Walsh averages (Hodges and Lehmann, 1963), with the interval of the ratios
/// that the test would not refuse (Tukey). `logs` are not empty.
Ratio signed_rank_ratio(std::span<const double> logs, double confidence);

/// The mean of what is left without the smallest and the largest 20 %. `values` are not empty.
double trimmed_mean(std::span<const double> values);

}  // namespace ucxbench
