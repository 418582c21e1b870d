#include "harness/analysis/distances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/core/text.hpp"

namespace ucxbench {
namespace {

// Hardware threads of one core, cores that share a cache, those that do not and those of another
// socket are twice as far from each other and more; one such distance varies by a fifth.
constexpr double farther = 1.5;

struct Value {
  double value;
  std::optional<std::size_t> place;
};

bool is_usable(double value) { return std::isfinite(value) && value > 0; }

std::vector<double> distances_in(const Result& run) {
  std::vector<double> all;
  for (const auto& of : run.cases) {
    for (const auto& record : of.launches) {
      for (const auto& ns : record.cpu_to_cpu_ns) {
        if (ns && is_usable(*ns)) all.push_back(*ns);
      }
    }
  }
  return all;
}

std::vector<Value> usable_values(const Metric& metric,
                                 std::vector<std::optional<std::size_t>> places) {
  // Medians that are not of these launches are of none that is known.
  if (places.size() != metric.launch_medians.size()) {
    places.assign(metric.launch_medians.size(), std::nullopt);
  }
  std::vector<Value> values;
  for (std::size_t launch = 0; launch < places.size(); ++launch) {
    const auto value = metric.launch_medians[launch];
    if (is_usable(value)) values.push_back({value, places[launch]});
  }
  return values;
}

std::vector<double> values_only(const std::vector<Value>& values) {
  std::vector<double> all;
  for (const auto& one : values) all.push_back(one.value);
  return all;
}

bool knows(const std::vector<Value>& values) {
  return std::ranges::any_of(values, [](const Value& one) { return one.place.has_value(); });
}

using ByPlace = std::map<std::optional<std::size_t>, std::array<std::vector<double>, 2>>;

// In proportion to the median at its place, and in the unit of all.
std::vector<double> aligned(const std::vector<Value>& values,
                            const std::map<std::optional<std::size_t>, double>& medians,
                            double unit) {
  std::vector<double> all;
  for (const auto& [value, place] : values) {
    const auto at = medians.find(place);
    if (at != medians.end()) all.push_back(value / at->second * unit);
  }
  return all;
}

}  // namespace

Distances::Distances(const Result& base, const Result& now) {
  auto all = distances_in(base);
  const auto more = distances_in(now);
  all.insert(all.end(), more.begin(), more.end());
  std::ranges::sort(all);
  auto first = all.begin();
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (at == first || *at <= farther * *(at - 1)) continue;
    medians_.push_back(median({first, at}));
    begins_.push_back(*at);
    first = at;
  }
  if (!all.empty()) medians_.push_back(median({first, all.end()}));
  for (const auto* run : {&base, &now}) {
    auto& counts = launches_.emplace_back(medians_.size() + 1);
    for (const auto& of : run->cases) {
      for (const auto& record : of.launches) {
        if (const auto place = place_of(record)) ++counts[*place];
      }
    }
  }
}

// One more than there are distances: it changed.
std::optional<std::size_t> Distances::place_of(const LaunchRecord& record) const {
  std::array<std::size_t, 2> at{};
  for (std::size_t end = 0; end < at.size(); ++end) {
    const auto& ns = record.cpu_to_cpu_ns.at(end);
    if (!ns || !is_usable(*ns)) return std::nullopt;
    at.at(end) = static_cast<std::size_t>(
        std::distance(begins_.begin(), std::ranges::upper_bound(begins_, *ns)));
  }
  return at[0] == at[1] ? at[0] : medians_.size();
}

// Of each launch that has this metric, in the order of its launch medians (result/summary.cpp).
std::vector<std::optional<std::size_t>> Distances::places_of(const Case& of,
                                                             const std::string& metric) const {
  std::map<int, std::optional<std::size_t>> by_launch;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end() || !samples->second.quantiles.p50) continue;
    by_launch[record.launch] = place_of(record);
  }
  std::vector<std::optional<std::size_t>> places;
  for (const auto& [launch, place] : by_launch) places.push_back(place);
  return places;
}

Alike Distances::alike(const Case& base, const Case& now, const std::string& metric) const {
  const auto old_values = usable_values(base.metrics.at(metric), places_of(base, metric));
  const auto new_values = usable_values(now.metrics.at(metric), places_of(now, metric));
  Alike same{values_only(old_values), values_only(new_values)};
  if (medians_.size() < 2 || !knows(old_values) || !knows(new_values)) return same;
  ByPlace by_place;
  for (const auto& [value, place] : old_values) by_place[place][0].push_back(value);
  for (const auto& [value, place] : new_values) by_place[place][1].push_back(value);
  if (by_place.size() < 2) return same;
  std::map<std::optional<std::size_t>, double> medians;
  std::vector<double> all;
  for (auto& [place, sides] : by_place) {
    auto& [old_side, new_side] = sides;
    if (old_side.empty() || new_side.empty()) continue;
    old_side.insert(old_side.end(), new_side.begin(), new_side.end());
    all.insert(all.end(), old_side.begin(), old_side.end());
    medians[place] = median(old_side);
  }
  if (medians.empty()) return {.base = {}, .now = {}, .apart = true};
  const auto unit = median(all);
  return {aligned(old_values, medians, unit), aligned(new_values, medians, unit)};
}

std::string Distances::in_words() const {
  if (medians_.size() < 2) return "";
  std::vector<std::string> parts;
  for (std::size_t place = 0; place <= medians_.size(); ++place) {
    std::array<double, 2> percent{};
    for (std::size_t run = 0; run < percent.size(); ++run) {
      const auto& counts = launches_.at(run);
      const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
      if (total == 0) return "";
      percent.at(run) = 100 * static_cast<double>(counts[place]) / static_cast<double>(total);
    }
    if (percent[0] + percent[1] <= 0) continue;
    const auto where = place < medians_.size() ? fmt::format("{:.3g} ns", medians_[place])
                                               : std::string("changing");
    parts.push_back(fmt::format("{} in {:.0f} and {:.0f} %", where, percent[0], percent[1]));
  }
  return "from the first rank's processor to the second's, a cache line takes " +
         join(parts, ", ") + " of launches: each is held against those of its distance";
}

}  // namespace ucxbench
