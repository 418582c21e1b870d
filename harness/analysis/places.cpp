#include "harness/analysis/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// Cores that share a cache, cores that do not, and those of another socket are twice as far from
// each other and more; one such distance varies by a fifth.
constexpr double farther = 1.5;
// A clock varies by some percent, another user of a core's other hardware thread costs 20 to 40 %,
// and if that is the other rank, half of the speed. In between: for part of the launch.
constexpr std::array slower_than = {1.1, 1.25, 1.6};
constexpr double one_of_the_fastest = 0.05;  // quantile: the very fastest may be luck
constexpr std::size_t most_places_named = 4;

bool is_usable(double value) { return std::isfinite(value) && value > 0; }

bool knows_places(const LaunchRecord& record) {
  return std::ranges::all_of(record.processors, [](const auto& seen) {
    return seen && is_usable(seen->apart_ns) && is_usable(seen->work_ns);
  });
}

// Whoever uses a core besides may do so for part of the launch.
double work_of(const LaunchRecord& record) {
  return (record.processors[0]->work_ns + record.processors[1]->work_ns) / 2;
}

template <typename Call>
void for_each_known(const Result& run, const Call& call) {
  for (const auto& of : run.cases) {
    for (const auto& record : of.launches) {
      if (knows_places(record)) call(record);
    }
  }
}

/// A launch median and where it was measured.
struct Placed {
  double value;
  std::optional<Place> place;
};

std::vector<Placed> placed(const Metric& metric, std::vector<std::optional<Place>> places) {
  // Medians that are not of these launches are of none that is known.
  if (places.size() != metric.launch_medians.size()) {
    places.assign(metric.launch_medians.size(), std::nullopt);
  }
  std::vector<Placed> values;
  for (std::size_t launch = 0; launch < places.size(); ++launch) {
    const auto value = metric.launch_medians[launch];
    if (is_usable(value)) values.push_back({value, places[launch]});
  }
  return values;
}

bool knows_any(const std::vector<Placed>& values) {
  return std::ranges::any_of(values, [](const auto& one) { return one.place.has_value(); });
}

}  // namespace

std::vector<double> usable_medians(const Metric& metric) {
  std::vector<double> all;
  std::ranges::copy_if(metric.launch_medians, std::back_inserter(all), is_usable);
  return all;
}

Places::Places(const std::vector<const Result*>& runs) {
  std::vector<double> distances;
  std::vector<double> works;
  for (const auto* run : runs) {
    const auto before = works.size();
    for_each_known(*run, [&](const LaunchRecord& record) {
      for (const auto& seen : record.processors) distances.push_back(seen->apart_ns);
      works.push_back(work_of(record));
    });
    if (works.size() == before) return;
  }
  std::ranges::sort(works);
  fastest_ns_ = quantile_of_sorted(works, one_of_the_fastest);
  std::ranges::sort(distances);
  auto first = distances.begin();
  for (auto at = std::next(first); at != distances.end(); ++at) {
    if (*at <= farther * *std::prev(at)) continue;
    distances_.push_back(median({first, at}));
    begins_.push_back(*at);
    first = at;
  }
  distances_.push_back(median({first, distances.end()}));
  for (const auto* run : runs) {
    for_each_known(*run, [&](const LaunchRecord& record) {
      met_[*place_of(record)].push_back(work_of(record) / fastest_ns_);
    });
  }
}

std::size_t Places::distance_of(double apart_ns) const {
  return static_cast<std::size_t>(
      std::distance(begins_.begin(), std::ranges::upper_bound(begins_, apart_ns)));
}

std::optional<Place> Places::place_of(const LaunchRecord& record) const {
  if (!knows_places(record)) return std::nullopt;
  const auto before = distance_of(record.processors[0]->apart_ns);
  const auto after = distance_of(record.processors[1]->apart_ns);
  const auto slower = work_of(record) / fastest_ns_;
  const auto speed =
      std::ranges::count_if(slower_than, [&](double limit) { return slower > limit; });
  return Place{before == after ? before : distances_.size(), static_cast<std::size_t>(speed)};
}

// Of each launch that has this metric, in the order of its launch medians (result/summary.cpp).
std::vector<std::optional<Place>> Places::places_of(const Case& of,
                                                    const std::string& metric) const {
  std::map<int, std::optional<Place>> by_launch;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end() || !samples->second.quantiles.p50) continue;
    by_launch[record.launch] = place_of(record);
  }
  std::vector<std::optional<Place>> places;
  for (const auto& [launch, place] : by_launch) places.push_back(place);
  return places;
}

Alike Places::alike(const Case& base, const Case& now, const std::string& metric) const {
  const std::array values = {placed(base.metrics.at(metric), places_of(base, metric)),
                             placed(now.metrics.at(metric), places_of(now, metric))};
  Alike same{usable_medians(base.metrics.at(metric)), usable_medians(now.metrics.at(metric))};
  if (met_.size() < 2 || !knows_any(values[0]) || !knows_any(values[1])) return same;
  std::map<std::optional<Place>, std::array<std::vector<double>, 2>> by_place;
  for (std::size_t side = 0; side < values.size(); ++side) {
    for (const auto& one : values.at(side)) by_place[one.place].at(side).push_back(one.value);
  }
  if (by_place.size() < 2) return same;
  std::map<std::optional<Place>, double> medians;
  std::vector<double> all;
  for (auto& [place, sides] : by_place) {
    auto& [both, more] = sides;
    if (both.empty() || more.empty()) continue;
    both.insert(both.end(), more.begin(), more.end());
    all.insert(all.end(), both.begin(), both.end());
    medians[place] = median(both);
  }
  if (medians.empty()) return {.base = {}, .now = {}, .apart = true};
  const auto unit = median(all);
  const auto aligned = [&](std::size_t side) {
    std::vector<double> proportions;
    for (const auto& one : values.at(side)) {
      const auto at = medians.find(one.place);
      if (at != medians.end()) proportions.push_back(one.value / at->second * unit);
    }
    return proportions;
  };
  return {aligned(0), aligned(1)};
}

std::string Places::words_of(const Place& place) const {
  auto words = place.distance < distances_.size()
                   ? fmt::format("{:.3g} ns apart", distances_[place.distance])
                   : std::string("moved meanwhile");
  if (place.speed == 0) return words;
  return words + fmt::format(" at {:.0f} % of the speed", 100 / median(met_.at(place)));
}

std::string Places::in_words() const {
  if (met_.size() < 2) return "";
  std::vector<std::pair<std::size_t, Place>> order;
  std::size_t launches = 0;
  for (const auto& [place, works] : met_) {
    order.emplace_back(works.size(), place);
    launches += works.size();
  }
  std::ranges::stable_sort(order, std::greater{}, [](const auto& one) { return one.first; });
  const auto share = [&](std::size_t count) {
    return fmt::format(" in {:.0f} %",
                       100 * static_cast<double>(count) / static_cast<double>(launches));
  };
  std::vector<std::string> parts;
  std::size_t others = launches;
  for (const auto& [count, place] : order) {
    if (parts.size() == most_places_named) break;
    parts.push_back(words_of(place) + share(count));
    others -= count;
  }
  if (others > 0) parts.push_back("otherwise" + share(others));
  return join(parts, ", ") + " of launches";
}

}  // namespace ucxbench
