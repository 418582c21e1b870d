#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ucxbench {

/// The two-sided p-value of the Mann-Whitney U test: the probability, if both samples are of one
/// distribution, of rank sums at least as far apart. Exact, also with ties (midranks), up to 200
/// values in all, by counting the permutations (shift algorithm of Streitberg and Röhmel, 1986);
/// above, the normal approximation corrected for ties and continuity. Both are non-empty.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The smallest p-value that samples of these sizes can have: no verdict is possible below.
double smallest_p(std::size_t a, std::size_t b);

/// P-values corrected so that the chance of any false alarm among all is as stated (Holm, 1979), in
/// the order given.
std::vector<double> holm(const std::vector<double>& p);

/// How many times `b` is `a`: the median of all ratios b/a (the Hodges-Lehmann estimate on
/// logarithms), with the interval that belongs to the test above. Values are positive.
struct Ratio {
  double estimate = 1;
  /// Of this confidence at least; empty where the samples are too small for it.
  std::optional<std::array<double, 2>> interval{};
};
Ratio ratio_of(std::span<const double> a, std::span<const double> b, double confidence);

}  // namespace ucxbench
