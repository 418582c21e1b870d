#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// The launch medians of a metric that a test can use, in launch order: finite and above zero.
std::vector<double> usable_medians(const Metric& metric);

/// Launch medians of one metric in two runs, to be held against each other.
struct Alike {
  std::vector<double> base, now;  ///< in launch order: finite and above zero
  bool apart = false;             ///< both measured it, but never at the same place
};

/// One of the places of a launch's processors.
struct Place {
  std::size_t distance = 0;  ///< counted from the nearest; the last: it changed during the launch
  std::size_t speed = 0;     ///< counted from the fastest
  auto operator<=>(const Place&) const = default;
};

/// Where a hypervisor puts the processors of a virtual machine, and who else uses their cores,
/// changes what can be measured by 10 to 400 %, for seconds at a time. LaunchRecord::processors
/// tells one place from another, so that launches can be held against those of both runs that met
/// the same.
class Places {
 public:
  /// Sorts what the launches of all these runs met: by distance, where the next is more than half
  /// as far again another begins; and by speed, more than 10, 25 or 60 % slower than the fastest.
  explicit Places(const std::vector<const Result*>& runs);

  /// The values of this metric, with what the place does to them taken out: each in proportion to
  /// the median of both runs' launches at its place (as Hodges and Lehmann align blocks, Annals of
  /// Mathematical Statistics 33, 1962). Launches at a place that only one of the runs met are left
  /// out. As they are where there is but one place, or one of the runs does not know.
  Alike alike(const Case& base, const Case& now, const std::string& metric) const;

  /// "47 ns apart in 70 %, 47 ns apart at 75 % of the speed in 30 % of launches": the processors,
  /// in all runs together. Empty where there is but one place, or one of the runs does not know.
  std::string in_words() const;

 private:
  std::size_t distance_of(double apart_ns) const;
  std::optional<Place> place_of(const LaunchRecord& record) const;
  std::vector<std::optional<Place>> places_of(const Case& of, const std::string& metric) const;
  std::string words_of(const Place& place) const;

  std::vector<double> begins_;                ///< the shortest of each distance but the first
  std::vector<double> distances_;             ///< medians, in ns
  double fastest_ns_ = 1;                     ///< of Processors::work_ns
  std::map<Place, std::vector<double>> met_;  ///< of each launch, its work in units of fastest_ns_
};

}  // namespace ucxbench
