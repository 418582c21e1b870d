#include "harness/analysis/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/analysis/environments.hpp"
#include "harness/analysis/places.hpp"
#include "harness/analysis/shapes.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// What a user would want to hear of, if it were there.
constexpr double matters = 0.05;

// They are 1/x of another metric, or another tool's definition of one.
const std::set<std::string> left_out = {"message_rate_per_s", "throughput_GBps",
                                        "bandwidth_sender_GBps"};

// Relative, from the median absolute deviation, which for a normal distribution is 0.6745 standard
// deviations; the median of n of them has π/2 times the variance of their mean.
double error_of_median(const std::vector<double>& values) {
  const auto middle = median(values);
  std::vector<double> away;
  for (const auto value : values) away.push_back(std::abs(value / middle - 1));
  return median(std::move(away)) / 0.6745 *
         std::sqrt(1.5707963 / static_cast<double>(values.size()));
}

SeriesChange missing_series(const std::string& key, const std::string& metric, const Case* other,
                            bool added) {
  SeriesChange series{.key = key, .metric = metric};
  series.change = added ? Change::added : Change::missing;
  if (added) {
    series.why = "the base run does not have it";
  } else if (other == nullptr) {
    series.why = "the new run does not have this case";
  } else {
    series.why = fmt::format("{} in the new run: {}", to_string(other->state),
                             other->reason.empty() ? "it has no such metric" : other->reason);
  }
  return series;
}

// Of all launches, wherever they ran.
std::optional<double> median_of(const Metric& metric) {
  auto values = usable_medians(metric);
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

SeriesChange weigh(const std::string& metric, const Case& base, const Case& now,
                   const Places& places, double alpha, double floor) {
  SeriesChange series{.key = base.key, .metric = metric};
  const auto samples = places.alike(base, now, metric);
  series.base_launches = samples.base.size();
  series.new_launches = samples.now.size();
  if (samples.base.empty() || samples.now.empty()) {
    series.why = samples.apart
                     ? "no launches of both runs met the ranks' processors at the same place: "
                       "bind both to the same CPUs, and measure them again in turns (ucx-bench ab)"
                     : "a run has no launch with a positive value";
    return series;
  }
  series.base = median_of(base.metrics.at(metric));
  series.now = median_of(now.metrics.at(metric));
  series.ratio = ratio_of(samples.base, samples.now, 1 - alpha);
  series.p = mann_whitney_p(samples.base, samples.now);
  series.floor =
      std::max(floor, 2 * std::hypot(error_of_median(samples.base), error_of_median(samples.now)));
  return series;
}

bool worse_when_larger(const std::string& metric) { return better_direction(metric) == "lower"; }

void decide(SeriesChange& series, double alpha, std::size_t tests) {
  if (!series.base || !series.now) return;
  const auto change = series.ratio.estimate - 1;
  if (series.corrected < alpha && std::abs(change) > series.floor) {
    series.change =
        (change > 0) == worse_when_larger(series.metric) ? Change::regressed : Change::improved;
    return;
  }
  const auto bound = std::max(matters, series.floor);
  if (series.ratio.interval && (*series.ratio.interval)[0] > 1 - bound &&
      (*series.ratio.interval)[1] < 1 + bound && std::abs(change) <= matters) {
    series.change = Change::unchanged;
    return;
  }
  series.change = Change::inconclusive;
  const auto needed = launches_needed(tests, alpha);
  if (smallest_p(series.base_launches, series.new_launches) * static_cast<double>(tests) > alpha) {
    series.why =
        fmt::format("{} and {} launches cannot give a verdict among {} tests: --launches {}",
                    series.base_launches, series.new_launches, tests, needed);
    return;
  }
  // An interval shrinks with the square root of the number of launches.
  const auto [low, high] = series.ratio.interval.value_or(std::array{0.5, 2.0});
  const auto times = std::pow((high - low) / 2 / matters, 2);
  const auto launches = static_cast<double>(std::min(series.base_launches, series.new_launches));
  const auto more = std::ceil(std::max(launches + 1, launches * times));
  series.why = fmt::format("too noisy to tell {:.0f} %: {}a quieter machine", 100 * matters,
                           more > most_launches ? "" : fmt::format("--launches {:.0f}, or ", more));
}

// Of one family of tests.
std::size_t judge(std::vector<SeriesChange>& series, double alpha) {
  std::vector<double> p;
  for (const auto& one : series) {
    if (one.base && one.now) p.push_back(one.p);
  }
  const auto corrected = holm(p);
  std::size_t test = 0;
  for (auto& one : series) {
    if (one.base && one.now) one.corrected = corrected[test++];
    if (one.change != Change::missing) decide(one, alpha, p.size());
  }
  return p.size();
}

bool is_canary(const Case& of) { return of.benchmark == canary_benchmark; }

// Of the canaries, or of all other cases.
std::vector<SeriesChange> series_of(const Result& base, const Result& now, bool canaries,
                                    const Places& places, double alpha, double floor) {
  std::vector<SeriesChange> series;
  for (const auto& old_case : base.cases) {
    if (is_canary(old_case) != canaries) continue;
    const auto* new_case = find_case(now, old_case.key);
    for (const auto& [name, metric] : old_case.metrics) {
      if (!is_compared(name)) continue;
      const auto found =
          new_case == nullptr ? old_case.metrics.end() : new_case->metrics.find(name);
      if (new_case == nullptr || found == new_case->metrics.end()) {
        series.push_back(missing_series(old_case.key, name, new_case, false));
        continue;
      }
      series.push_back(weigh(name, old_case, *new_case, places, alpha, floor));
    }
  }
  return series;
}

void look_at_the_host(Comparison& comparison, const Result& base, const Result& now,
                      const Places& places, double floor) {
  auto& canaries = comparison.canaries;
  canaries = series_of(base, now, true, places, comparison.alpha, floor);
  // Another kind of run has none: nothing is known of the host then.
  std::erase_if(canaries, [](const SeriesChange& one) { return one.change == Change::missing; });
  judge(canaries, comparison.alpha);
  for (const auto& one : canaries) {
    if (one.change != Change::regressed && one.change != Change::improved) continue;
    comparison.host_changed += fmt::format(
        "{}{} {} {:.4g} -> {:.4g} ({:+.1f} %)", comparison.host_changed.empty() ? "" : ", ",
        one.key, one.metric, *one.base, *one.now, 100 * (one.ratio.estimate - 1));
  }
}

void doubt_all(Comparison& comparison) {
  for (auto& one : comparison.series) {
    if (one.change == Change::missing) continue;
    one.change = Change::inconclusive;
    one.why =
        fmt::format("the host changed: {}; measure both again, in turns", comparison.host_changed);
  }
}

// The least likely to be chance first, and the larger of equals.
bool comes_before(const SeriesChange& a, const SeriesChange& b) {
  if (a.change != b.change) return a.change < b.change;
  const auto effect = [](const SeriesChange& series) {
    return series.floor > 0 ? std::abs(std::log(series.ratio.estimate)) / series.floor : 0;
  };
  return effect(a) > effect(b);
}

// The launches of both were taken in turns: what befell the machine befell both.
bool in_turns(const Result& base, const Result& now) {
  const auto other = text_at(base.run, "/ab/other", "");
  return !other.empty() && other == text_at(now.run, "/id", "");
}

bool of_one_run(const Result& base, const Result& now) {
  const auto id = text_at(base.run, "/id", "");
  return !id.empty() && id == text_at(now.run, "/id", "");
}

std::string why_incomparable(const Result& base, const Result& now, const Demands& demands) {
  const auto machine = machine_of(base);
  if (machine != machine_of(now)) {
    return fmt::format("measured on different machines, {} and {}", machine, machine_of(now));
  }
  const auto deciding = deciding_differences(base, now);
  if (deciding.empty() || demands.across_environments) return "";
  return fmt::format(
      "measured in different environments, {}: measure the base again, or compare "
      "all the same with --across-environments",
      join(deciding, ", "));
}

}  // namespace

bool is_compared(const std::string& metric) { return !left_out.contains(metric); }

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 6> names = {"regressed", "improved", "inconclusive",
                                                     "missing",   "new",      "unchanged"};
  return names.at(static_cast<std::size_t>(change));
}

// The smallest p-value of so many must pass the correction.
std::size_t launches_needed(std::size_t tests, double alpha) {
  std::size_t launches = 2;
  while (smallest_p(launches, launches) * static_cast<double>(tests) > alpha) ++launches;
  return launches;
}

Comparison compare(const Result& base, const Result& now, const Demands& demands) {
  const auto alpha = demands.alpha;
  const auto floor = demands.floor;
  Comparison comparison{.alpha = alpha,
                        .incomparable = why_incomparable(base, now, demands),
                        .differences = differences_of(base, now)};
  if (!comparison.incomparable.empty()) return comparison;
  const Places places({&base, &now});
  if (const auto words = places.in_words(); !words.empty()) {
    comparison.differences.push_back("the first two ranks' processors were " + words +
                                     ": each is held against those that met the same");
  }
  look_at_the_host(comparison, base, now, places, floor);
  auto& series = comparison.series;
  series = series_of(base, now, false, places, alpha, floor);
  comparison.tests = judge(series, alpha);
  if (of_one_run(base, now)) {
    comparison.differences.emplace_back(
        "one run, its own launches in turns (A B B A): a change is a false alarm");
  }
  const bool turns = in_turns(base, now);
  look_at_shapes(series, base, now, places, alpha, turns);
  if (!comparison.host_changed.empty()) doubt_all(comparison);
  const bool changed = std::ranges::any_of(series, [](const SeriesChange& one) {
    return one.change == Change::regressed || one.change == Change::improved;
  });
  if (changed && !turns) {
    comparison.differences.emplace_back(
        "measured one after the other: a host that changed in between looks like this, too "
        "(ucx-bench ab measures in turns)");
  }
  for (const auto& new_case : now.cases) {
    if (is_canary(new_case)) continue;
    const auto* old_case = find_case(base, new_case.key);
    for (const auto& [name, metric] : new_case.metrics) {
      if (!is_compared(name) || (old_case != nullptr && old_case->metrics.contains(name))) {
        continue;
      }
      series.push_back(missing_series(new_case.key, name, old_case, true));
    }
  }
  std::stable_sort(series.begin(), series.end(), comes_before);
  return comparison;
}

}  // namespace ucxbench
