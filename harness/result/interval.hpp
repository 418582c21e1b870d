#pragma once

// How far a median over launches may be from what more launches would give. Every output takes it
// from here.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.hpp"
#include "harness/core/names.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// Of a median over launches, in its unit.
struct Interval {
  enum class Kind {
    ci95,   ///< the median's 95 % confidence interval (median_ci95)
    range,  ///< from the lowest to the highest launch: they are too few for 95 %
  };
  double low = 0, high = 0;
  Kind kind = Kind::ci95;
};

inline constexpr Names<Interval::Kind, 2> interval_kinds = {
    {{Interval::Kind::ci95, "ci95"}, {Interval::Kind::range, "range"}}};

/// Of the median of these, one per launch; what is not finite is left out. Empty below two.
std::optional<Interval> interval_over(std::vector<double> of_launches);

/// Of the metric's p50.
std::optional<Interval> interval_of(const Metric& metric);

/// Of a case's metric; empty where it has none.
std::optional<Interval> interval_of(const Case& of, const std::string& metric);

/// `interval` times a number above 0.
std::optional<Interval> scaled(const std::optional<Interval>& interval, double times);

/// Of the sum of two medians, of the first less the second, and of the first over the second: from
/// the farther ends of both, a range where either is one. Empty where either is, and a quotient
/// also where the second may be 0 or less.
std::optional<Interval> sum(const std::optional<Interval>& a, const std::optional<Interval>& b);
std::optional<Interval> difference(const std::optional<Interval>& a,
                                   const std::optional<Interval>& b);
std::optional<Interval> quotient(const std::optional<Interval>& a,
                                 const std::optional<Interval>& b);

/// Case::pairs of more than so many have no intervals, or a run file would be twice as large.
inline constexpr std::size_t most_pairs_with_intervals = 4096;

/// Of 1 / x.
std::optional<Interval> inverse(const std::optional<Interval>& interval);
/// Of the larger of two.
std::optional<Interval> larger(const std::optional<Interval>& a, const std::optional<Interval>& b);

/// " (1.20..1.31)" behind a median in a sentence, of a range " (1.20..1.31, range)"; nothing where
/// there is none.
std::string interval_behind(const std::optional<Interval>& interval, int digits = 3);

/// The same of a time in us, with units: " (6.36 ms..38.7 ms)".
std::string time_interval_behind(const std::optional<Interval>& us);

/// {"low", "high", "kind"}, or null.
Json to_json(const std::optional<Interval>& interval);

/// What to_json() wrote, or of files of before a list of the two ends of a 95 % interval; empty for
/// anything else.
std::optional<Interval> interval_from(const Json& json);

/// What stands under `intervals` of a summary ("median_ms" of a phase); empty where there is none.
std::optional<Interval> interval_at(const Json& summary, const char* name);

}  // namespace ucxbench
