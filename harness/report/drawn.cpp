#include "harness/report/drawn.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/analysis/findings.hpp"
#include "harness/report/comparison_view.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

Json launches_to_draw(const Case& of) {
  std::set<std::pair<int, std::string>> seen;
  auto launches = Json::array();
  for (const auto& record : of.launches) {
    const auto progress = text_at(record.path, "/target_progress", "");
    if (!seen.emplace(record.launch, progress).second) continue;
    auto path = progress.empty() ? Json::object() : Json{{"target_progress", progress}};
    launches.push_back({{"launch", record.launch}, {"path", std::move(path)}});
  }
  return launches;
}

Json named_run(const Result& run, const std::map<std::string, std::string>& impossible = {}) {
  return {{"run", run_to_draw(run, impossible)},
          {"file", run.file.empty() ? "-" : run.file.string()},
          {"folder", run.file.has_parent_path() ? run.file.parent_path().string() : "."}};
}

/// As the case of one of the runs calls it.
std::string title_in(const Result& base, const Result& now, const SeriesChange& series) {
  for (const auto* run : {&now, &base}) {
    const auto of = std::ranges::find(run->cases, series.key, &Case::key);
    if (of == run->cases.end()) continue;
    const auto metric = std::ranges::find(of->shows.metrics, series.metric, &ShownMetric::name);
    if (metric != of->shows.metrics.end()) return metric_title(metric->title, metric->unit);
  }
  return series.metric;
}

Json verdicts_to_draw(const Comparison& comparison, const Result& base, const Result& now) {
  std::map<Change, std::size_t> counts;
  auto rows = Json::array(), told = Json::array();
  for (const auto& series : folded_rows(comparison)) {
    counts[series.change] += series.pair ? series.pair->stands_for : 1;
    const auto cells = comparison_cells(series);
    auto& row = rows.emplace_back(Json::array({to_string(series.change)}));
    row.push_back(series.key + (series.pair ? " " + in_words(*series.pair) : ""));
    row.push_back(title_in(base, now, series));
    for (const char* name : {"base", "new", "delta", "interval", "floor", "p", "why", "by"}) {
      row.push_back(cells.at(name));
    }
  }
  for (const auto change : shown_changes) {
    if (counts[change] > 0) told.push_back({to_string(change), counts[change]});
  }
  return {{"counts", std::move(told)}, {"rows", std::move(rows)}};
}

}  // namespace

std::string metric_title(const std::string& title, const std::string& unit) {
  return title + ", " + unit_text(unit);
}

std::string unit_text(const std::string& unit) { return unit == "us" ? "µs" : unit; }

Json run_to_draw(const Result& run, const std::map<std::string, std::string>& impossible) {
  auto json = without_launches(run);
  auto& cases = json.at("cases");
  for (std::size_t at = 0; at < run.cases.size(); ++at) {
    cases[at]["launches"] = launches_to_draw(run.cases[at]);
    const auto found = impossible.find(run.cases[at].key);
    if (found == impossible.end()) continue;
    cases[at]["state"] = to_string(CaseState::failed);
    cases[at]["reason"] = "impossible, " + found->second;
    for (const char* none : {"metrics", "exchange", "sweep"}) cases[at][none] = Json::object();
    for (const char* none : {"pairs", "phases", "limits", "links"}) cases[at][none] = Json::array();
  }
  return json;
}

Json page_to_draw(const Result& run) {
  auto json = named_run(run);
  for (auto& finding : json["run"]["findings"]) finding["of_quality"] = of_quality(finding);
  const auto [level, reasons] = quality_of(run);
  json["run"]["quality"] = {{"level", level}, {"reasons", reasons}};
  return json;
}

Json comparison_to_draw(const Comparison& comparison, const Result& base, const Result& now) {
  return {{"comparison", comparison_json(comparison)},
          {"verdicts", verdicts_to_draw(comparison, base, now)},
          {"runs",
           {named_run(base, comparison.impossible[0]), named_run(now, comparison.impossible[1])}}};
}

Json plot_to_draw(std::span<const Result> runs) {
  auto all = Json::array();
  for (const auto& run : runs) all.push_back(named_run(run));
  return {{"runs", std::move(all)}};
}

}  // namespace ucxbench
