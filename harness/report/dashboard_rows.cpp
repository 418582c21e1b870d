#include "harness/report/dashboard_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "harness/core/or_null.hpp"
#include "harness/core/statistics.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/report/drawn.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr const char* not_compared = "not compared";
constexpr const char* nothing = "–";        // as comparison_cells() has it
constexpr std::size_t least_for_shape = 8;  // launches
constexpr double far_away = 6;              // robust standard deviations from the median
// Median absolute deviations in a standard deviation of a normal distribution.
constexpr double robust_deviation = 0.6745;
constexpr std::array order = {Change::failed,      Change::regressed, Change::missing,
                              Change::improved,    Change::added,     Change::unchanged,
                              Change::inconclusive};

Json plain_cells(const HistoryLine& line) {
  const auto& value = line.values.back();
  const auto note = line.notes.find(line.values.size() - 1);
  return {{"base", nothing},
          {"new", value ? significant(value->median, 4) : nothing},
          {"delta", nothing},
          {"interval", nothing},
          {"p", nothing},
          {"floor", nothing},
          {"effect", nothing},
          {"why", note == line.notes.end() ? "" : note->second},
          {"better", line.label.better},
          {"by", nothing},
          {"in_turns", nullptr}};
}

std::string told(const HistoryRun& run) {
  return fmt::format("{} (commit {})", day_of(run), short_commit(run));
}

/// Since when a row that regressed or failed is worse, and than which run; and its change points.
std::vector<std::string> history_of(const DashboardStream& of, const DashboardRow& row) {
  std::vector<std::string> lines;
  if (row.night != nullptr && row.night->since != nullptr) {
    const auto& series = row.night->series;
    lines.push_back(fmt::format("{} since {}; last good {}", to_string(series.change),
                                told(*row.night->since), told(*of.night.base_of(*row.night))));
    if (row.night->undecided) {
      lines.back() += "; this run does not say otherwise: " + explanation_of(series);
    }
  }
  for (const auto& loss : row.losses) {
    lines.push_back(fmt::format("{} since {}{}", change_text(loss.after / loss.before),
                                day_of(*of.stream.runs[loss.index]),
                                loss.provisional ? ", provisional" : ""));
  }
  return lines;
}

/// As the newest run that has it says.
std::string title_of(const DashboardStream& of, const std::string& key, const std::string& metric) {
  auto runs = of.stream.runs;
  if (of.night.base != nullptr) runs.insert(runs.begin(), of.night.base);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const auto* label = (*run)->record().label_of(key, metric);
    if (label != nullptr) return metric_title(label->title, label->unit);
  }
  return metric;
}

const Case* case_in(const Result* run, const std::string& key) {
  if (run == nullptr) return nullptr;
  const auto found = std::ranges::find(run->cases, key, &Case::key);
  return found == run->cases.end() ? nullptr : &*found;
}

std::vector<double> launch_medians(const Result* run, const std::string& key,
                                   const std::string& metric) {
  const auto* of = case_in(run, key);
  if (of == nullptr) return {};
  const auto found = of->metrics.find(metric);
  return found == of->metrics.end() ? std::vector<double>() : found->second.launch_medians;
}

std::vector<const NightRow*> sorted_rows(const NightComparison& night) {
  std::vector<const NightRow*> rows;
  for (const auto& row : night.rows) rows.push_back(&row);
  const auto rank = [](const NightRow* row) {
    const auto place = std::ranges::find(order, row->series.change) - order.begin();
    // A change of 0 is none that comes first.
    const auto effect = effect_of(row->series).value_or(0);
    return std::pair(place, effect > 0 ? -effect : 1);
  };
  std::ranges::stable_sort(rows, {}, rank);
  return rows;
}

/// The newest run's line, or the base's where the newest run has none.
const HistoryLine* line_for(const DashboardStream& of, const NightRow& row) {
  if (row.series.pair) return nullptr;
  std::vector<std::size_t> places = {of.stream.runs.size() - 1};
  if (const auto place = of.stream.place_of(of.night.base_of(row))) places.push_back(*place);
  for (const auto place : places) {
    for (const auto& line : of.lines) {
      if (line.key == row.series.key && line.metric == row.series.metric && line.values[place]) {
        return &line;
      }
    }
  }
  return nullptr;
}

/// The host reference is nothing that a program can lose.
std::vector<ChangePoint> losses_of(const DashboardStream& of, const DashboardRow& row) {
  if (row.line == nullptr || row.line->is_canary) return {};
  auto losses = standing_losses(of.stream, *row.line);
  if (row.triage != nullptr) {
    std::erase_if(losses, [&](const ChangePoint& loss) {
      return row.triage->excuses(of.stream.runs[loss.index]->record().started);
    });
  }
  return losses;
}

Json triage_json(const TriageEntry* entry) {
  if (entry == nullptr) return nullptr;
  return {{"state", name_of(triage_states, entry->state)},
          {"reason", entry->reason},
          {"owner", entry->owner}};
}

}  // namespace

std::string day_of(const HistoryRun& run) { return run.record().started.substr(0, 10); }

std::string short_commit(const HistoryRun& run) {
  const auto& commit = run.record().commit;
  return commit.empty() ? "?" : commit.substr(0, 10);
}

std::pair<std::string, std::string> shape_of(const SeriesChange* series,
                                             const std::vector<double>& medians) {
  if (series == nullptr || medians.empty()) {
    return {"?", "compare has not looked at these launches"};
  }
  if (series->new_drift) {
    return {"drifting",
            fmt::format("{:+.1f} % from the first launch to the last", 100 * *series->new_drift)};
  }
  if (const auto& modes = series->new_modes) {
    return {"bimodal",
            fmt::format("{:.0f} % of the launches lie around {:.4g}, the others around {:.4g}",
                        100 * modes->share_high, modes->high, modes->low)};
  }
  std::vector<double> values, away;
  for (const auto value : medians) {
    if (value > 0) values.push_back(value);
  }
  if (values.size() < least_for_shape) {
    return {"?", fmt::format("{}; {} say something", counted(values.size(), "launch", "launches"),
                             least_for_shape)};
  }
  const double middle = median(values);
  for (const auto value : values) away.push_back(std::abs(value - middle));
  const double deviation = median(away) / robust_deviation;
  const auto far =
      std::ranges::count_if(away, [&](double distance) { return distance > far_away * deviation; });
  if (deviation > 0 && far > 0) {
    return {"outliers", fmt::format("{} of {} launches are {:g} robust standard deviations away",
                                    far, values.size(), far_away)};
  }
  return {"steady", fmt::format("{} launches without drift, modes or outliers", values.size())};
}

std::vector<DashboardRow> dashboard_rows(const DashboardStream& of, Triage& triage,
                                         const Result* newest) {
  std::vector<DashboardRow> rows;
  std::set<const HistoryLine*> used;
  for (const auto* night : sorted_rows(of.night)) {
    rows.push_back({.night = night, .line = line_for(of, *night), .key = night->case_name()});
    used.insert(rows.back().line);
  }
  for (const bool canary : {false, true}) {
    for (const auto& line : of.lines) {
      if (line.is_canary == canary && !used.contains(&line)) {
        rows.push_back({.line = &line, .key = line.key});
      }
    }
  }
  for (auto& row : rows) {
    const auto* series = row.night == nullptr ? nullptr : &row.night->series;
    const auto& metric = series == nullptr ? row.line->metric : series->metric;
    const auto [shape, why] = shape_of(series, launch_medians(newest, row.key, metric));
    row.triage = triage.entry_for(row.key + " " + metric);
    row.losses = losses_of(of, row);
    row.history = history_of(of, row);
    row.shown = series == nullptr ? plain_cells(*row.line) : comparison_cells(*series);
    row.shown["key"] = row.key;
    row.shown["metric"] = title_of(of, row.key, metric);
    row.shown["verdict"] = series == nullptr ? not_compared : to_string(series->change);
    row.shown["line"] = row.line == nullptr ? Json() : Json(row.line->number);
    row.shown["shape"] = shape;
    row.shown["shape_why"] = why;
    row.shown["history"] = row.history;
    row.shown["triage"] = triage_json(row.triage);
  }
  return rows;
}

}  // namespace ucxbench
