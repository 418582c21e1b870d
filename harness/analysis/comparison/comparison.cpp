#include "harness/analysis/comparison/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "harness/analysis/comparison/carriers.hpp"
#include "harness/analysis/comparison/environments.hpp"
#include "harness/analysis/comparison/host_drift.hpp"
#include "harness/analysis/comparison/judge.hpp"
#include "harness/analysis/comparison/next_steps.hpp"
#include "harness/analysis/comparison/pairs.hpp"
#include "harness/analysis/comparison/placements.hpp"
#include "harness/analysis/comparison/shapes.hpp"
#include "harness/analysis/comparison/signed_rank.hpp"
#include "harness/analysis/comparison/tails.hpp"
#include "harness/analysis/comparison/weigh.hpp"
#include "harness/analysis/findings.hpp"
#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/flaws.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

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

// Of the metrics that either run has, else of those that the case shows.
std::vector<std::string> judged_metrics(const Case* old_case, const Case* new_case) {
  std::vector<std::string> names;
  const auto add = [&](const Case& of, const std::string& name) {
    if (shown_metric(of, name).judged) add_once(names, name);
  };
  for (const auto* of : {old_case, new_case}) {
    if (of == nullptr) continue;
    for (const auto& [name, metric] : of->metrics) add(*of, name);
  }
  if (!names.empty()) return names;
  const auto& of = new_case != nullptr ? *new_case : *old_case;
  for (const auto& metric : of.shows.metrics) add(of, metric.name);
  return names;
}

Reason reason_of(Flaw flaw) {
  switch (flaw) {
    case Flaw::wrong_data:
      return Reason::wrong_data;
    case Flaw::failed:
      return Reason::failed;
    case Flaw::impossible:
      return Reason::impossible;
    case Flaw::no_bytes:
      return Reason::zero;
    case Flaw::time_sliced:
      return Reason::time_sliced;
    case Flaw::interrupted:
      break;
  }
  return Reason::interrupted;
}

/// weigh() says of each metric of a case that it is 0, or of turns on a GPU.
std::optional<Flaw> flaw_of_all_metrics(const Judged& run, const Case& of) {
  const auto flaw = run.flaw_of(of);
  const bool weighed = flaw == Flaw::no_bytes || flaw == Flaw::time_sliced;
  return weighed ? flaw_of(of) : flaw;
}

/// One row for each metric of a case of which a run has no figure that counts; either case may be
/// null, of a run that does not have it. Empty where both count.
std::vector<SeriesChange> rows_without_figures(const TwoRuns& runs, const Case* old_case,
                                               const Case* new_case) {
  const auto flaw_in = [](const Judged& run, const Case* of) {
    return of == nullptr ? std::nullopt : flaw_of_all_metrics(run, *of);
  };
  const auto of_base = flaw_in(runs.judged_base, old_case);
  const auto of_new = flaw_in(runs.judged_now, new_case);
  if (!of_base && !of_new) return {};
  const auto& of = of_new ? *new_case : *old_case;
  const auto flaw = of_new ? *of_new : *of_base;
  const auto& run = of_new ? runs.judged_now : runs.judged_base;
  const auto* const what = flaw == Flaw::impossible ? "has no figure that counts" : "did not pass";
  std::vector<SeriesChange> rows;
  for (const auto& name : judged_metrics(old_case, new_case)) {
    rows.push_back({.key = of.key,
                    .metric = name,
                    .better = shown_metric(of, name).better,
                    .change = of_new && has_failed(of) ? Change::failed : Change::inconclusive,
                    .reason = reason_of(flaw),
                    .base_is_flawed = !of_new,
                    .why = fmt::format("the {} run {}: {}", of_new ? "new" : "base", what,
                                       run.in_words(flaw, of))});
  }
  return rows;
}

Row row_of_other_pairs(const Case& of, const std::string& metric) {
  return {.series = {.key = of.key,
                     .metric = metric,
                     .better = shown_metric(of, metric).better,
                     .reason = Reason::pairs,
                     .why = "not judged: the runs have different pairs of ranks, and this is the "
                            "median over all; see the rows of pairs"}};
}

SameRanks ranks_of_both(const TwoRuns& runs, const Case& base, const Case& now) {
  return match_ranks(ranks_of_case(runs.base, base), ranks_of_case(runs.now, now));
}

/// What is not matched by what the ranks are is said once, of whichever cases.
void add_ranks(Comparison& comparison, const TwoRuns& runs) {
  for (const auto& old_case : runs.base.cases) {
    const auto* new_case = find_case(runs.now, old_case.key);
    if (new_case == nullptr || !(has_pairs(old_case) || has_pairs(*new_case))) continue;
    auto same = ranks_of_both(runs, old_case, *new_case);
    for (const auto& line : in_words(same)) add_once(comparison.differences, line);
    const bool some_alone = !same.base_alone.empty() || !same.new_alone.empty();
    const bool renumbered =
        std::ranges::any_of(same.base_of, [](const auto& of) { return of.first != of.second; });
    if (renumbered || (some_alone && same.by == SameBy::place))
      comparison.base_ranks[old_case.key] = std::move(same.base_of);
  }
}

/// Of several hosts the first one has them, and the other run may have it in another place.
bool have_canaries_of_other_hosts(const TwoRuns& runs) {
  const auto first = text_at(runs.base.machine, "/hosts/0/name", "");
  return text_at(runs.now.machine, "/hosts/0/name", "") != first && has_host(runs.now, first);
}

// Of the canaries, or of all other cases.
std::vector<Row> rows_of(const TwoRuns& runs, bool canaries, const Demands& demands) {
  std::vector<Row> rows;
  const auto add = [&](std::vector<Row> more) {
    std::ranges::move(more, std::back_inserter(rows));
  };
  for (const auto& old_case : runs.base.cases) {
    if (is_canary(old_case) != canaries) continue;
    const auto* new_case = find_case(runs.now, old_case.key);
    auto without = rows_without_figures(runs, &old_case, new_case);
    if (!without.empty()) {
      for (auto& series : without) rows.push_back({.series = std::move(series)});
      continue;
    }
    const auto same = new_case == nullptr ? SameRanks() : ranks_of_both(runs, old_case, *new_case);
    for (const auto& [name, metric] : old_case.metrics) {
      if (!shown_metric(old_case, name).judged) continue;
      const auto found =
          new_case == nullptr ? old_case.metrics.end() : new_case->metrics.find(name);
      if (new_case == nullptr || found == new_case->metrics.end()) {
        rows.push_back({.series = missing_series(old_case, name, new_case, false)});
        continue;
      }
      rows.push_back(canaries || have_same_pairs(name, same, old_case, *new_case)
                         ? weigh(name, runs, old_case, *new_case, demands)
                         : row_of_other_pairs(old_case, name));
      if (!canaries) add(rows_of_pairs(name, runs, same, old_case, *new_case, demands));
    }
    if (new_case != nullptr && !canaries) {
      if (const auto* metric = pair_metric_of(old_case, *new_case)) {
        add(rows_of_pairs(metric, runs, same, old_case, *new_case, demands));
      }
    }
  }
  return rows;
}

std::vector<SeriesChange> series_of(std::vector<Row> rows) {
  std::vector<SeriesChange> series;
  for (auto& row : rows) series.push_back(std::move(row.series));
  return series;
}

void look_at_the_host(Comparison& comparison, const TwoRuns& runs, const Demands& demands) {
  if (have_canaries_of_other_hosts(runs)) return;
  auto rows = rows_of(runs, true, demands);
  // Another kind of run has none: nothing is known of the host then.
  std::erase_if(rows, [](const Row& row) { return row.series.change == Change::missing; });
  judge(rows, {Look{.after = 0}}, demands);
  comparison.canaries = series_of(std::move(rows));
  for (const auto& row : comparison.canaries) {
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

// What a launch met is told apart by one host's processors alone.
void add_placements_elsewhere(std::vector<std::string>& differences, const TwoRuns& runs) {
  auto hosts = other_hosts_with_processors(runs.base);
  hosts.merge(other_hosts_with_processors(runs.now));
  hosts.erase(runs.placements.host());
  for (const auto& host : hosts) {
    const auto words = Placements({&runs.base, &runs.now}, host).in_brief();
    if (words.empty()) continue;
    differences.push_back(fmt::format(
        "placement changed between launches on {}, which is not told apart ({})", host, words));
  }
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

bool all_are_duets(const std::vector<Row>& rows) {
  return !rows.empty() && std::ranges::all_of(rows, [](const Row& row) {
    return row.series.method == Method::duets || row.series.change == Change::missing ||
           row.series.change == Change::failed;
  });
}

// The least likely to be chance first, and the larger of equals.
bool comes_before(const SeriesChange& a, const SeriesChange& b) {
  if (a.change != b.change) return a.change < b.change;
  return times_the_floor(a) > times_the_floor(b);
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
  const std::pair<const char*, const Judged*> both[] = {{"base", &runs.judged_base},
                                                        {"new", &runs.judged_now}};
  for (const auto& [name, run] : both) {
    const auto figures = impossible_figures(*run);
    if (figures.empty()) continue;
    differences.push_back(fmt::format("the {} run has {}, of whose cases nothing is judged: {}",
                                      name, counted(figures.size(), "impossible figure"),
                                      figures.front()));
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

std::string why_lost(const Result& now) {
  if (text_at(now.run, "/state", "") != "failed") return "";
  return (now.run.contains("ab") ? "measuring failed: " : "the new run failed: ") +
         on_one_line(text_at(now.run, "/reason", "it does not say why"));
}

void add_labels(std::vector<SeriesChange>& series, const Result& base, const Result& now) {
  for (auto& row : series) {
    std::vector<std::string> sides;
    for (const auto* run : {&base, &now}) {
      if (const auto* of = find_case(*run, row.key)) {
        sides.push_back(join(labels_of(*run, *of), ", "));
      }
    }
    const auto words = [](const std::string& labels) { return labels.empty() ? "none" : labels; };
    row.labels = sides.front() == sides.back()
                     ? sides.front()
                     : words(sides.front()) + " -> " + words(sides.back());
  }
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

double times_the_floor(const SeriesChange& series) {
  return series.floor > 0 ? std::abs(std::log(series.ratio.estimate)) / std::log1p(series.floor)
                          : 0;
}

double shown_floor(const SeriesChange& series) {
  return series.ratio.estimate < 1 ? series.floor / (1 + series.floor) : series.floor;
}

bool other_carriers(const SeriesChange& series) {
  const auto& [base, now] = series.carriers;
  return !base.empty() && !now.empty() && base != now;
}

std::string_view to_string(Method method) { return method == Method::duets ? "duets" : "launches"; }

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 7> names = {
      "failed", "regressed", "improved", "inconclusive", "missing", "new", "unchanged"};
  return names.at(static_cast<std::size_t>(change));
}

std::string name_of(const SeriesChange& series) {
  return series.pair ? fmt::format("{} {} {}", series.key, in_words(*series.pair), series.metric)
                     : fmt::format("{} {}", series.key, series.metric);
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

bool has_loss(const Comparison& comparison) {
  return !comparison.lost.empty() ||
         std::ranges::any_of(comparison.series, [](const SeriesChange& row) {
           return row.change == Change::regressed || row.change == Change::failed;
         });
}

Comparison compare(const Result& base, const Result& now, const Demands& demands) {
  Comparison comparison{.alpha = demands.alpha,
                        .incomparable = why_incomparable(base, now, demands),
                        .lost = why_lost(now),
                        .differences = differences_of(base, now)};
  if (!comparison.incomparable.empty()) return comparison;
  const TwoRuns runs{base, now};
  auto rows = rows_of(runs, false, demands);
  comparison.impossible = {impossible_cases(runs.judged_base), impossible_cases(runs.judged_now)};
  add_impossible(comparison.differences, runs);
  add_ranks(comparison, runs);
  look_at_the_host(comparison, runs, demands);
  // Both sides of a duet met the same.
  if (all_are_duets(rows)) {
    comparison.host_changed.clear();
  } else {
    add_placements(comparison.differences, runs);
    add_placements_elsewhere(comparison.differences, runs);
    comparison.placements = runs.placements.in_words();
  }
  auto& series = comparison.series;
  comparison.looks = looks_of(base, now);
  comparison.tests = judge(rows, comparison.looks, demands, planned_duets(base, now));
  const bool turns = in_turns(base, now);
  look_at_shapes(rows, demands.alpha, turns);
  look_at_tails(rows, runs, demands.alpha);
  series = series_of(std::move(rows));
  if (of_one_run(base, now)) {
    comparison.differences.emplace_back(
        "one run against itself, launches interleaved (A B B A): any change is a false alarm");
  }
  add_reasons_in_turns(comparison);
  if (!comparison.host_changed.empty()) doubt_what_the_host_explains(series, base, comparison);
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
    if (old_case == nullptr) {
      std::ranges::move(rows_without_figures(runs, nullptr, &new_case), std::back_inserter(series));
    }
    if (flaw_of_all_metrics(runs.judged_now, new_case)) continue;
    if (old_case != nullptr && flaw_of_all_metrics(runs.judged_base, *old_case)) continue;
    for (const auto& [name, metric] : new_case.metrics) {
      const bool in_both = old_case != nullptr && old_case->metrics.contains(name);
      if (in_both || !shown_metric(new_case, name).judged) continue;
      series.push_back(missing_series(new_case, name, old_case, true));
    }
  }
  add_labels(series, base, now);
  std::stable_sort(series.begin(), series.end(), comes_before);
  std::ranges::move(compare_carriers(series, base, now),
                    std::back_inserter(comparison.differences));
  comparison.next_steps = next_steps(comparison, now);
  return comparison;
}

}  // namespace ucxbench
