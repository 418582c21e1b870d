#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/result/result.hpp"

namespace ucxbench {

/// Launch medians of one metric in two runs, to be held against each other.
struct Alike {
  std::vector<double> base, now;  ///< in launch order: finite and above zero
  bool apart = false;             ///< both measured it, but never at the same distance
};

/// Where a hypervisor puts the processors of a virtual machine changes what can be measured by some
/// 10 to 400 %, for seconds at a time. LaunchRecord::cpu_to_cpu_ns tells one place from another, so
/// that launches can be held against those of both runs that met the same.
class Distances {
 public:
  /// Sorts the distances of all launches of both runs; where the next is more than half as long
  /// again, another place begins.
  Distances(const Result& base, const Result& now);

  /// The values of this metric, with what the place does to them taken out: each in proportion to
  /// the median of both runs' launches at its place (as Hodges and Lehmann align blocks, Annals of
  /// Mathematical Statistics 33, 1962), launches during which the place changed being a place of
  /// their own. Launches at a place that only one of the runs met are left out. As they are where
  /// there is but one place, or one of the runs does not know.
  Alike alike(const Case& base, const Case& now, const std::string& metric) const;

  /// One line, how often each run met which distance; empty where there is but one.
  std::string in_words() const;

 private:
  std::optional<std::size_t> place_of(const LaunchRecord& record) const;
  std::vector<std::optional<std::size_t>> places_of(const Case& of,
                                                    const std::string& metric) const;

  std::vector<double> begins_;   ///< the shortest distance of each place, but of the first
  std::vector<double> medians_;  ///< the distance of each place
  std::vector<std::vector<std::size_t>> launches_;  ///< per run: at each place, then changing
};

}  // namespace ucxbench
