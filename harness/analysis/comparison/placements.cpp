#include "harness/analysis/comparison/placements.hpp"

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
constexpr std::size_t most_named = 4;
constexpr double least_share = 0.5;  // of a run's launches: fewer do not speak for it

bool is_usable(double value) { return std::isfinite(value) && value > 0; }

/// A launch median and where it was measured.
struct Placed {
  double value;
  std::optional<Placement> placement;
};

std::vector<Placed> placed(const Metric& metric, std::vector<std::optional<Placement>> placements) {
  // Medians that are not of these launches are of none that is known.
  if (placements.size() != metric.launch_medians.size()) {
    placements.assign(metric.launch_medians.size(), std::nullopt);
  }
  std::vector<Placed> values;
  for (std::size_t launch = 0; launch < placements.size(); ++launch) {
    const auto value = metric.launch_medians[launch];
    if (is_usable(value)) values.push_back({value, placements[launch]});
  }
  return values;
}

bool knows_any(const std::vector<Placed>& values) {
  return std::ranges::any_of(values,
                             [](const auto& launch) { return launch.placement.has_value(); });
}

std::map<Placement, Stratum> strata_of(const std::vector<Placed>& base,
                                       const std::vector<Placed>& now) {
  std::map<Placement, Stratum> strata;
  for (const auto& launch : base) {
    if (launch.placement) strata[*launch.placement].base.push_back(launch.value);
  }
  for (const auto& launch : now) {
    if (launch.placement) strata[*launch.placement].now.push_back(launch.value);
  }
  std::erase_if(strata, [](const auto& entry) {
    return entry.second.base.empty() || entry.second.now.empty();
  });
  return strata;
}

// Both runs count alike, however often each was there.
std::map<Placement, double> levels_of(const std::map<Placement, Stratum>& strata) {
  std::map<Placement, double> levels;
  for (const auto& [placement, of] : strata) {
    levels[placement] = std::sqrt(median(of.base) * median(of.now));
  }
  return levels;
}

std::vector<double> aligned(const std::vector<Placed>& values,
                            const std::map<Placement, double>& levels, double usual) {
  std::vector<double> found;
  for (const auto& launch : values) {
    const auto level = launch.placement ? levels.find(*launch.placement) : levels.end();
    if (level != levels.end()) found.push_back(launch.value / level->second * usual);
  }
  return found;
}

// Of the placements that most launches met.
double usual_level(const std::map<Placement, Stratum>& strata,
                   const std::map<Placement, double>& levels) {
  const auto most = std::ranges::max_element(strata, {}, [](const auto& entry) {
    return entry.second.base.size() + entry.second.now.size();
  });
  return levels.at(most->first);
}

std::string first_host(const Result& run) { return text_at(run.machine, "/hosts/0/name", ""); }

// The first one of a run that all runs have; empty where there is none.
std::string host_of_all(const std::vector<const Result*>& runs) {
  for (const auto* of : runs) {
    const auto name = first_host(*of);
    if (std::ranges::all_of(runs, [&](const Result* run) { return has_host(*run, name); })) {
      return name;
    }
  }
  return "";
}

std::string too_few_in_words(const std::string& run, std::size_t kept, std::size_t all) {
  return fmt::format(
      "{} of {} launches of the {} run had a placement that the other run never had: bind both to "
      "the same CPUs, rerun interleaved (ucx-bench ab)",
      all - kept, all, run);
}

}  // namespace

std::vector<double> usable_medians(const Metric& metric) {
  std::vector<double> all;
  std::ranges::copy_if(metric.launch_medians, std::back_inserter(all), is_usable);
  return all;
}

bool has_host(const Result& run, const std::string& name) {
  return std::ranges::any_of(run.machine.value("hosts", Json::array()),
                             [&](const Json& host) { return text_at(host, "/name", "") == name; });
}

std::set<std::string> other_hosts_with_processors(const Result& run) {
  std::set<std::string> hosts;
  for (const auto& of : run.cases) {
    for (const auto& record : of.launches) {
      for (const auto& [host, seen] : record.processors_elsewhere) hosts.insert(host);
    }
  }
  return hosts;
}

Placements::Placements(const std::vector<const Result*>& runs, std::string host)
    : host_(host.empty() ? host_of_all(runs) : std::move(host)), launches_(runs.size()) {
  for (const auto* run : runs) {
    is_first_.push_back(host_.empty() || first_host(*run) == host_);
  }
  std::vector<double> distances;
  std::vector<double> works;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto before = works.size();
    for_each_known(*runs[run], run, [&](const LaunchRecord& record) {
      for (const auto& at : seen(record, run)) distances.push_back(at->apart_ns);
      works.push_back(work_of(record, run));
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
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for_each_known(*runs[run], run, [&](const LaunchRecord& record) {
      auto& met = met_[*placement_of(record, run)];
      met.resize(runs.size());
      met[run].push_back(work_of(record, run) / fastest_ns_);
      ++launches_[run];
    });
  }
}

const SeenProcessors& Placements::seen(const LaunchRecord& record, std::size_t run) const {
  static const SeenProcessors nothing;
  if (is_first_[run]) return record.processors;
  const auto found = record.processors_elsewhere.find(host_);
  return found == record.processors_elsewhere.end() ? nothing : found->second;
}

bool Placements::knows_placement(const LaunchRecord& record, std::size_t run) const {
  return std::ranges::all_of(seen(record, run), [](const auto& at) {
    return at && is_usable(at->apart_ns) && is_usable(at->work_ns);
  });
}

// Whoever uses a core besides may do so for part of the launch.
double Placements::work_of(const LaunchRecord& record, std::size_t run) const {
  const auto& at = seen(record, run);
  return (at[0]->work_ns + at[1]->work_ns) / 2;
}

template <typename Call>
void Placements::for_each_known(const Result& of, std::size_t run, const Call& call) const {
  for (const auto& each : of.cases) {
    for (const auto& record : each.launches) {
      if (knows_placement(record, run)) call(record);
    }
  }
}

std::size_t Placements::distance_of(double apart_ns) const {
  return static_cast<std::size_t>(
      std::distance(begins_.begin(), std::ranges::upper_bound(begins_, apart_ns)));
}

std::optional<Placement> Placements::placement_of(const LaunchRecord& record,
                                                  std::size_t run) const {
  if (!knows_placement(record, run)) return std::nullopt;
  const auto before = distance_of(seen(record, run)[0]->apart_ns);
  const auto after = distance_of(seen(record, run)[1]->apart_ns);
  const auto slower = work_of(record, run) / fastest_ns_;
  const auto speed =
      std::ranges::count_if(slower_than, [&](double limit) { return slower > limit; });
  return Placement{before == after ? before : distances_.size(), static_cast<std::size_t>(speed)};
}

// Of each launch that has this metric, in the order of its launch medians (result/summary.cpp).
std::vector<std::optional<Placement>> Placements::placements_of(const Case& of,
                                                                const std::string& metric,
                                                                std::size_t run) const {
  std::map<int, std::optional<Placement>> by_launch;
  for (const auto& record : of.launches) {
    const auto samples = record.samples.find(metric);
    if (samples == record.samples.end() || !samples->second.quantiles.p50) continue;
    by_launch[record.launch] = placement_of(record, run);
  }
  std::vector<std::optional<Placement>> placements;
  for (const auto& [launch, placement] : by_launch) placements.push_back(placement);
  return placements;
}

Matched Placements::matched(const Case& base, const Case& now, const std::string& metric) const {
  const auto old_values = placed(base.metrics.at(metric), placements_of(base, metric, 0));
  const auto new_values = placed(now.metrics.at(metric), placements_of(now, metric, 1));
  if (old_values.empty() || new_values.empty()) {
    return {.why_not = fmt::format("the {} run has no launch with a positive value",
                                   old_values.empty() ? "base" : "new")};
  }
  if (met_.size() < 2 || !knows_any(old_values) || !knows_any(new_values)) {
    Matched all{.base = usable_medians(base.metrics.at(metric)),
                .now = usable_medians(now.metrics.at(metric))};
    all.strata = {{all.base, all.now}};
    return all;
  }
  const auto strata = strata_of(old_values, new_values);
  Matched found;
  if (!strata.empty()) {
    const auto levels = levels_of(strata);
    const auto usual = usual_level(strata, levels);
    found.base = aligned(old_values, levels, usual);
    found.now = aligned(new_values, levels, usual);
  }
  const auto too_few = [](const auto& kept, const auto& all) {
    return static_cast<double>(kept.size()) < least_share * static_cast<double>(all.size());
  };
  if (too_few(found.base, old_values)) {
    found.why_not = too_few_in_words("base", found.base.size(), old_values.size());
  } else if (too_few(found.now, new_values)) {
    found.why_not = too_few_in_words("new", found.now.size(), new_values.size());
  } else {
    for (const auto& [placement, of] : strata) found.strata.push_back(of);
  }
  return found;
}

std::string Placements::words_of(const Placement& placement, const Met& met) const {
  auto words = placement.distance < distances_.size()
                   ? fmt::format("{:.3g} ns apart", distances_[placement.distance])
                   : std::string("moved meanwhile");
  if (placement.speed == 0) return words;
  std::vector<double> works;
  for (const auto& of_run : met) works.insert(works.end(), of_run.begin(), of_run.end());
  return words + fmt::format(" at {:.0f} % of the speed", 100 / median(std::move(works)));
}

std::string Placements::in_words() const {
  if (met_.size() < 2) return "";
  std::vector<std::pair<std::size_t, Placement>> order;
  for (const auto& [placement, met] : met_) {
    std::size_t launches = 0;
    for (const auto& of_run : met) launches += of_run.size();
    order.emplace_back(launches, placement);
  }
  std::ranges::stable_sort(order, std::greater{}, [](const auto& entry) { return entry.first; });
  const auto shares = [&](const std::vector<double>& counts) {
    std::vector<std::string> parts;
    for (std::size_t run = 0; run < counts.size(); ++run) {
      parts.push_back(fmt::format("{:.0f}", 100 * counts[run] / launches_[run]));
    }
    return " in " + join(parts, " and ") + " %";
  };
  std::vector<std::string> parts;
  auto others = launches_;
  for (const auto& [launches, placement] : order) {
    if (parts.size() == most_named) break;
    const auto& met = met_.at(placement);
    std::vector<double> counts;
    for (std::size_t run = 0; run < met.size(); ++run) {
      counts.push_back(static_cast<double>(met[run].size()));
      others[run] -= counts[run];
    }
    parts.push_back(words_of(placement, met) + shares(counts));
  }
  if (met_.size() > most_named) parts.push_back("otherwise" + shares(others));
  return join(parts, ", ") + " of launches";
}

std::string Placements::in_brief() const {
  if (met_.size() < 2) return "";
  const auto apart = distances_.size() == 1
                         ? fmt::format("{:.3g}", distances_.front())
                         : fmt::format("{:.3g} to {:.3g}", distances_.front(), distances_.back());
  return fmt::format("{} placements, {} ns apart", met_.size(), apart);
}

double Placements::in_common() const {
  double share = 0;
  for (const auto& [placement, met] : met_) {
    auto least = 1.0;
    for (std::size_t run = 0; run < met.size(); ++run) {
      least = std::min(least, static_cast<double>(met[run].size()) / launches_[run]);
    }
    share += least;
  }
  return met_.empty() ? 1 : share;
}

}  // namespace ucxbench
