#include "harness/analysis/comparison/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "harness/analysis/comparison/environments.hpp"
#include "harness/analysis/comparison/next_steps.hpp"
#include "harness/analysis/comparison/placements.hpp"
#include "harness/analysis/comparison/resolution.hpp"
#include "harness/analysis/comparison/shapes.hpp"
#include "harness/analysis/comparison/signed_rank.hpp"
#include "harness/analysis/comparison/weigh.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

// What a user would want to hear of, if it were there.
constexpr double matters = 0.05;

// Of launches, where an interval has no end: far beyond what anybody measures.
constexpr double most_wanted = 1e9;

// By chance two runs of 24 launches, each of its own placement of four, have 0.8 in common.
constexpr double usual_in_common = 0.7;

SeriesChange missing_series(const Case& of, const std::string& metric, const Case* other,
                            bool added) {
  SeriesChange series{.key = of.key, .metric = metric, .better = shown_metric(of, metric).better};
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

void say_why(SeriesChange& series, double alpha, std::size_t tests) {
  const auto least = static_cast<double>(tests) * series.smallest_p;
  const auto launches = std::min(series.base_launches, series.new_launches);
  const auto needed = launches_needed(tests, alpha, series.method);
  if (least > alpha && launches < needed) {
    series.doubt = Doubt::too_few_launches;
    series.launches_wanted = needed;
    series.reason = "launches";
    series.why =
        series.method == Method::duets
            ? fmt::format("{} are too few for a verdict among {}", counted(launches, "duet"),
                          counted(tests, "test"))
            : fmt::format("{} and {} launches are too few for a verdict among {}",
                          series.base_launches, series.new_launches, counted(tests, "test"));
    return;
  }
  if (least > alpha) {
    series.reason = "placement";
    series.why =
        "too few launches with the same placement: bind both to the same CPUs, rerun interleaved "
        "(ucx-bench ab)";
    return;
  }
  const auto [low, high] = series.ratio.interval.value_or(std::array{0.5, 2.0});
  if (4 * series.resolution > high - low) {
    series.reason = "clock";
    series.why =
        fmt::format("the clock is too coarse: changes below {:.1f} % (two steps) are hidden",
                    200 * series.resolution / a_little_more);
    return;
  }
  // An interval shrinks with the square root of the number of launches, around the estimate: until
  // it leaves out what matters, or no change, whichever is further from the estimate. A change of
  // more than that may be chance.
  const auto change = std::min(std::abs(series.ratio.estimate - 1), matters);
  const auto times = std::pow((high - low) / 2 / std::max(matters - change, change), 2);
  const auto more = static_cast<double>(launches) * std::max(1.0, times);
  series.doubt = Doubt::too_noisy;
  series.launches_wanted = static_cast<std::size_t>(
      std::ceil(std::min(most_wanted, std::max(static_cast<double>(launches) + 1, more))));
  series.reason = "noise";
  series.why = fmt::format("noise hides changes below {:.0f} %", 100 * matters);
}

void decide(SeriesChange& series, double alpha, std::size_t tests) {
  if (!series.base || !series.now) return;
  const auto change = series.ratio.estimate - 1;
  if (series.corrected < alpha && std::abs(change) > series.floor) {
    const bool lower_is_better = series.better == "lower";
    series.change = (change > 0) == lower_is_better ? Change::regressed : Change::improved;
    series.remark = series.differs_by_placement;
    return;
  }
  series.change = Change::inconclusive;
  if (!series.differs_by_placement.empty()) {
    series.why = series.differs_by_placement;
    series.reason = "placement";
    return;
  }
  const auto bound = std::max(matters, series.floor);
  if (series.ratio.interval && (*series.ratio.interval)[0] > 1 - bound &&
      (*series.ratio.interval)[1] < 1 + bound && std::abs(change) <= matters) {
    series.change = Change::unchanged;
    return;
  }
  say_why(series, alpha, tests);
}

// Of one family of tests.
std::size_t judge(std::vector<SeriesChange>& series, double alpha) {
  std::vector<double> p;
  for (const auto& row : series) {
    if (row.base && row.now) p.push_back(row.p);
  }
  const auto corrected = holm(p);
  std::size_t test = 0;
  for (auto& row : series) {
    if (row.base && row.now) row.corrected = corrected[test++];
    if (row.change != Change::missing) decide(row, alpha, p.size());
  }
  return p.size();
}

// Of the canaries, or of all other cases.
std::vector<SeriesChange> series_of(const TwoRuns& runs, bool canaries, const Demands& demands) {
  std::vector<SeriesChange> series;
  for (const auto& old_case : runs.base.cases) {
    if (is_canary(old_case) != canaries) continue;
    const auto* new_case = find_case(runs.now, old_case.key);
    for (const auto& [name, metric] : old_case.metrics) {
      if (!shown_metric(old_case, name).judged) continue;
      const auto found =
          new_case == nullptr ? old_case.metrics.end() : new_case->metrics.find(name);
      if (new_case == nullptr || found == new_case->metrics.end()) {
        series.push_back(missing_series(old_case, name, new_case, false));
        continue;
      }
      series.push_back(weigh(name, runs, old_case, *new_case, demands));
    }
  }
  return series;
}

void look_at_the_host(Comparison& comparison, const TwoRuns& runs, const Demands& demands) {
  auto& canaries = comparison.canaries;
  canaries = series_of(runs, true, demands);
  // Another kind of run has none: nothing is known of the host then.
  std::erase_if(canaries, [](const SeriesChange& row) { return row.change == Change::missing; });
  judge(canaries, comparison.alpha);
  for (const auto& row : canaries) {
    if (row.change != Change::regressed && row.change != Change::improved) continue;
    comparison.host_changed += fmt::format(
        "{}{} {} {:.4g} -> {:.4g} ({:+.1f} %)", comparison.host_changed.empty() ? "" : ", ",
        row.key, row.metric, *row.matched_base, *matched_new(row), 100 * (row.ratio.estimate - 1));
  }
}

bool knows_placements(const Result& run) {
  return std::ranges::any_of(run.cases, [](const Case& of) {
    return std::ranges::any_of(of.launches, [](const LaunchRecord& record) {
      return record.processors[0] && record.processors[1];
    });
  });
}

// The other run may have met as many.
void add_unknown_placements(std::vector<std::string>& differences, const TwoRuns& runs) {
  const std::array known = {knows_placements(runs.base), knows_placements(runs.now)};
  if (known[0] == known[1]) return;
  const auto met = Placements({known[0] ? &runs.base : &runs.now}).in_brief();
  if (met.empty()) return;
  differences.push_back(
      fmt::format("the {} run has no placement data (ranks not bound, or an older ucx-bench), the "
                  "other had {}: "
                  "rerun interleaved (ucx-bench ab)",
                  known[0] ? "new" : "base", met));
}

void add_placements(std::vector<std::string>& differences, const TwoRuns& runs) {
  const auto& placements = runs.placements;
  const auto words = placements.in_brief();
  if (words.empty()) {
    add_unknown_placements(differences, runs);
    return;
  }
  differences.push_back(
      fmt::format("placement changed between launches (hypervisor moved the CPUs): compared within "
                  "the same placement ({})",
                  words));
  if (placements.in_common() >= usual_in_common) return;
  differences.emplace_back(
      "the runs had placements unequally often: verdicts leave out what moving a process costs");
}

void doubt_all(Comparison& comparison) {
  for (auto& row : comparison.series) {
    // What befell the host befell both sides of a duet.
    if (row.change == Change::missing || row.method == Method::duets) continue;
    row.change = Change::inconclusive;
    row.doubt = Doubt::none;
    row.reason = "host";
    row.why = fmt::format("host reference drifted: {}; rerun interleaved (ucx-bench ab)",
                          comparison.host_changed);
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

void add_impossible(std::vector<std::string>& differences, const TwoRuns& runs) {
  const std::pair<const char*, const Result*> both[] = {{"base", &runs.base}, {"new", &runs.now}};
  for (const auto& [name, run] : both) {
    const auto figures = impossible_figures(*run);
    if (figures.empty()) continue;
    differences.push_back(fmt::format("the {} run has {}, ignore {} changes: {}", name,
                                      counted(figures.size(), "impossible figure"),
                                      figures.size() == 1 ? "its" : "their", figures.front()));
  }
}

std::string why_incomparable(const Result& base, const Result& now, const Demands& demands) {
  const auto machine = machine_of(base);
  if (machine != machine_of(now)) {
    return fmt::format("measured on different machines, {} and {}", machine, machine_of(now));
  }
  const auto deciding = deciding_differences(deciding_environment(base), deciding_environment(now));
  if (deciding.empty() || demands.across_environments) return "";
  return fmt::format(
      "measured in different environments, {}: measure the base again, or add "
      "--across-environments",
      join(deciding, ", "));
}

// A line for each reason.
void add_reasons_in_turns(Comparison& comparison) {
  std::map<std::string, std::size_t> rows;
  for (const auto& row : comparison.series) {
    if (!row.in_turns.empty()) ++rows[row.in_turns];
  }
  for (const auto& [why, count] : rows) {
    comparison.differences.push_back(
        fmt::format("measured in turns, no duets: {} ({})", counted(count, "row"), why));
  }
}

}  // namespace

std::optional<double> matched_new(const SeriesChange& series) {
  if (!series.matched_base) return std::nullopt;
  return *series.matched_base * series.ratio.estimate;
}

std::string_view to_string(Method method) { return method == Method::duets ? "duets" : "launches"; }

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 6> names = {"regressed", "improved", "inconclusive",
                                                     "missing",   "new",      "unchanged"};
  return names.at(static_cast<std::size_t>(change));
}

// The smallest p-value of so many must pass the correction.
std::size_t launches_needed(std::size_t tests, double alpha, Method method) {
  const auto smallest = [method](std::size_t launches) {
    return method == Method::duets ? smallest_signed_rank_p(launches)
                                   : smallest_p(launches, launches);
  };
  std::size_t launches = 2;
  while (smallest(launches) * static_cast<double>(tests) > alpha) ++launches;
  return launches;
}

Comparison compare(const Result& base, const Result& now, const Demands& demands) {
  Comparison comparison{.alpha = demands.alpha,
                        .incomparable = why_incomparable(base, now, demands),
                        .differences = differences_of(base, now)};
  if (!comparison.incomparable.empty()) return comparison;
  const TwoRuns runs{base, now};
  add_impossible(comparison.differences, runs);
  add_placements(comparison.differences, runs);
  comparison.placements = runs.placements.in_words();
  look_at_the_host(comparison, runs, demands);
  auto& series = comparison.series;
  series = series_of(runs, false, demands);
  comparison.tests = judge(series, demands.alpha);
  if (of_one_run(base, now)) {
    comparison.differences.emplace_back(
        "one run against itself, launches interleaved (A B B A): any change is a false alarm");
  }
  add_reasons_in_turns(comparison);
  const bool turns = in_turns(base, now);
  look_at_shapes(series, base, now, runs.placements, demands.alpha, turns);
  if (!comparison.host_changed.empty()) doubt_all(comparison);
  const bool changed = std::ranges::any_of(series, [](const SeriesChange& row) {
    return row.change == Change::regressed || row.change == Change::improved;
  });
  if (changed && !turns) {
    comparison.differences.emplace_back(
        "not interleaved: the host may have changed in between (ucx-bench ab interleaves)");
  }
  for (const auto& new_case : now.cases) {
    if (is_canary(new_case)) continue;
    const auto* old_case = find_case(base, new_case.key);
    for (const auto& [name, metric] : new_case.metrics) {
      const bool in_both = old_case != nullptr && old_case->metrics.contains(name);
      if (in_both || !shown_metric(new_case, name).judged) continue;
      series.push_back(missing_series(new_case, name, old_case, true));
    }
  }
  std::stable_sort(series.begin(), series.end(), comes_before);
  comparison.next_steps = next_steps(comparison, now);
  return comparison;
}

}  // namespace ucxbench
