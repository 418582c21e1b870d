#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/result/cases.hpp"

namespace ucxbench {

/// What one transport set gives of a metric, beside what others give of the same.
struct MeasuredSet {
  std::string name;  ///< "shm+tcp"
  const Case* of;
  ShownMetric shown;
  const Metric* metric;  ///< its p50 is above 0

  double p50() const { return *metric->quantiles.p50; }
};

/// Whether a difference between two cases that are else alike is not one of their network devices:
/// they have the same, or the set of one uses none.
bool have_one_network(const Case& a, const Case& b);

/// Cases that differ alone in their transports and in what moves their messages, by a key of all
/// else. One whose set uses no network stands beside those of each network.
std::map<std::string, std::vector<const Case*>> alike_but_for_transports(
    std::span<const Case* const> cases);

/// Of those among `cases` that have the metric, in their order.
std::vector<MeasuredSet> measured_sets(std::span<const Case* const> cases,
                                       const std::string& metric);

/// A pair of ranks between which a set is slower than another.
struct PairLoss {
  int src, dst;
  double times;                    ///< by the medians over launches, above 1
  std::array<double, 2> interval;  ///< of `times`: by the nearest and the farthest launches
};

/// The pair in which `set` loses most: by more than 3 %, each of its launches being worse than all
/// of the other's. Empty where there is none, or fewer than six launches.
std::optional<PairLoss> worst_pair(const MeasuredSet& set, const MeasuredSet& other);

/// How much worse `set` is than `best`, by their medians: 0.1 is 10 %; below 0, it is better.
double loss(const MeasuredSet& set, const MeasuredSet& best);

/// The same, at least and at most, from the ends of both 95 % intervals; empty where one has none.
std::optional<std::array<double, 2>> loss_interval(const MeasuredSet& set, const MeasuredSet& best);

/// What launches say of a set beside another. A difference of 3 % is none that anybody would choose
/// by.
enum class Standing {
  as_good,  ///< at most 3 % worse, wherever in their intervals both are
  worse,    ///< more than 3 % by the medians, and the intervals do not overlap
  unknown,  ///< either is possible, or one has no interval
};
Standing standing_of(const MeasuredSet& set, const MeasuredSet& best);

inline bool told_apart(const MeasuredSet& set, const MeasuredSet& best) {
  return standing_of(set, best) == Standing::worse;
}

/// The one with the fewest transports of the fastest and of those whose medians are at most 3 %
/// worse. UCX's own choice, "auto", comes last of these, since it is none to set. `sets` is not
/// empty.
const MeasuredSet& best_set(std::span<const MeasuredSet> sets);

}  // namespace ucxbench
