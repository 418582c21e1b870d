#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ucxbench {

/// The q-quantile (0 ≤ q ≤ 1) of ascending, non-empty `sorted`, interpolated between the two
/// nearest order statistics at (n − 1)·q: definition 7 of Hyndman & Fan 1996, numpy's default.
double quantile_of_sorted(std::span<const double> sorted, double q);

/// The arithmetic mean of non-empty `values`.
double mean(std::span<const double> values);

/// The median of non-empty `values`.
double median(std::vector<double> values);

/// The standard error of the median of non-empty `values`, in their unit. From the median absolute
/// deviation, which for a normal distribution is 0.6745 standard deviations; the median of n of
/// them has π/2 times the variance of their mean. Where more than half are equal that deviation is
/// 0 and says nothing: then from the mean one, 0.7979 standard deviations (Iglewicz and Hoaglin,
/// How to Detect and Handle Outliers, 1993).
double error_of_median(const std::vector<double>& values);

inline constexpr std::size_t least_for_ci95 = 6;
inline constexpr std::size_t least_for_inner_ci95 = 9;  ///< below, the interval is the range

/// Distribution-free 95 % confidence interval of the median from order statistics: the narrowest
/// symmetric pair x[k], x[n−1−k] whose exact binomial coverage 1 − 2·P(B(n,½) ≤ k) is at least 95
/// %. Empty below 6 values, where no such pair exists. (Hoefler & Belli, SC'15, rule 5.)
/// Below least_for_inner_ci95 k is 0.
std::optional<std::array<double, 2>> median_ci95(std::vector<double> values);

/// `keep` of the indexes 0..n−1, evenly spread in run order; all of them when n ≤ keep. A stated,
/// repeatable choice that keeps drifts and modes visible.
std::vector<std::size_t> even_choice(std::size_t n, std::size_t keep);

}  // namespace ucxbench
