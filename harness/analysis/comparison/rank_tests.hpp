#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ucxbench {

/// Values of a base and of a new run that may be held against each other: all of one placement.
/// Both are non-empty, and values are positive.
struct Stratum {
  std::vector<double> base, now;
};

/// The two-sided p-value of van Elteren's test: the probability, if within each stratum both runs
/// are of one distribution, of rank sums at least as far apart. Ranks are taken within a stratum,
/// so that what makes strata differ counts for nothing, however unequally the runs met them; a
/// stratum of N values has the weight 1/(N + 1) (van Elteren, Bull. Int. Stat. Inst. 37, 1960). Of
/// one stratum it is Mann and Whitney's U test. All permutations within strata are counted, with
/// midranks for ties (shift algorithm of Streitberg and Röhmel, 1986), so that it is exact for the
/// smallest strata; where that would take long (from about 150 values in one stratum on with ties,
/// 400 without), the normal approximation corrected for ties and continuity.
double rank_sum_p(std::span<const Stratum> strata);

/// The smallest p-value that samples of these sizes can have: no verdict is possible below.
double smallest_p(std::size_t base, std::size_t now);
double smallest_p(std::span<const Stratum> strata);

/// P-values corrected so that the chance of any false alarm among all is as stated (Holm, 1979), in
/// the order given.
std::vector<double> holm(const std::vector<double>& p);

/// How many times the base is the new run.
struct Ratio {
  double estimate = 1;
  /// Of this confidence at least; empty where the samples are too small for it.
  std::optional<std::array<double, 2>> interval{};
};

/// The weighted median of all ratios new/base within strata (the Hodges-Lehmann estimate on
/// logarithms, with the weights of the test), with the interval that belongs to the test: the
/// ratios that it would not refuse. Never empty strata.
Ratio ratio_of(std::span<const Stratum> strata, double confidence);

}  // namespace ucxbench
