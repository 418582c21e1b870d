#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/analysis/comparison/rank_tests.hpp"
#include "harness/result/result.hpp"

namespace ucxbench {

/// By name.
bool has_host(const Result& run, const std::string& name);

/// The hosts beside the first one of which launches know their processors, by name.
std::set<std::string> other_hosts_with_processors(const Result& run);

/// The launch medians of a metric that a test can use, in launch order: finite and above zero.
std::vector<double> usable_medians(const Metric& metric);

/// Launch medians of one metric in two runs, to be held against each other.
struct Matched {
  std::vector<Stratum> strata{};  ///< those of one placement each; empty where there is no test
  /// In launch order, with what the placement does to them taken out: each divided by the geometric
  /// mean of both runs' medians at its placement, so that the runs' difference stays, times that of
  /// the usual placement.
  std::vector<double> base{}, now{};
  std::string why_not{};  ///< there is no test; one line, with what to do
};

/// Where a hypervisor had put the processors of a launch's first two ranks, and who else used their
/// cores.
struct Placement {
  std::size_t distance = 0;  ///< counted from the nearest; the last: it changed during the launch
  std::size_t speed = 0;     ///< counted from the fastest
  auto operator<=>(const Placement&) const = default;
};

/// On a virtual machine the placement changes what can be measured by 10 to 400 %, for seconds at a
/// time. LaunchRecord::processors tells one from another, so that launches can be held against
/// those of the other run that met the same.
class Placements {
 public:
  /// Sorts what the launches of all these runs met, of one, or of a base and a new one: by
  /// distance, where the next is more than half as far again another begins; and by speed, more
  /// than 10, 25 or 60 % slower than the fastest.
  /// Of one host, by name; of none given, of the first one that the other run knows, too, and else
  /// of the first of each.
  explicit Placements(const std::vector<const Result*>& runs, std::string host = "");

  /// The launch medians of this metric by placement. Launches of a placement that only one of the
  /// runs met, or that is unknown, are left out; where that leaves less than half of a run, there
  /// is no test. All are of one stratum where there is but one placement, or a run knows none.
  Matched matched(const Case& base, const Case& now, const std::string& metric) const;

  /// "47 ns apart in 70 and 66 %, 47 ns apart at 75 % of the speed in 30 and 34 % of launches": the
  /// processors, in each run. Empty where there is but one placement, or a run knows none.
  std::string in_words() const;

  /// "2 placements, 47 to 163 ns apart". Empty as above.
  std::string in_brief() const;

  /// Empty: the first of each run.
  const std::string& host() const { return host_; }

  /// The share of launches whose placement the runs met equally often, 0 to 1.
  double in_common() const;

 private:
  using Met = std::vector<std::vector<double>>;  ///< by run, each launch's work / fastest_ns_

  const SeenProcessors& seen(const LaunchRecord& record, std::size_t run) const;
  bool knows_placement(const LaunchRecord& record, std::size_t run) const;
  double work_of(const LaunchRecord& record, std::size_t run) const;
  template <typename Call>
  void for_each_known(const Result& of, std::size_t run, const Call& call) const;
  std::size_t distance_of(double apart_ns) const;
  std::optional<Placement> placement_of(const LaunchRecord& record, std::size_t run) const;
  std::vector<std::optional<Placement>> placements_of(const Case& of, const std::string& metric,
                                                      std::size_t run) const;
  std::string words_of(const Placement& placement, const Met& met) const;

  std::string host_;
  std::vector<bool> is_first_;     ///< of each run, whether that is its first host
  std::vector<double> begins_;     ///< the shortest of each distance but the first
  std::vector<double> distances_;  ///< medians, in ns
  double fastest_ns_ = 1;          ///< of Processors::work_ns
  std::map<Placement, Met> met_;
  std::vector<double> launches_;  ///< of each run, those whose placement is known
};

}  // namespace ucxbench
