#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/analysis/rules/judged.hpp"
#include "harness/report/facts.hpp"
#include "harness/report/report.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

using Visit = std::function<void(const Case&, const std::string&, const Metric&)>;

/// What is worth following over time: what `compare` compares, as far as it was measured.
void each_followed(const Result& result, const Visit& visit) {
  const Judged run(result);
  for (const auto& of : result.cases) {
    if (run.leaves_out(of)) continue;
    for (const auto& [name, metric] : of.metrics) {
      const auto& p50 = metric.quantiles.p50;
      if (shown_metric(of, name).judged && p50 && std::isfinite(*p50)) visit(of, name, metric);
    }
  }
}

std::string to_json_text(const Json& json) { return json_text(json, 2) + "\n"; }

/// github-action-benchmark gives a whole file one direction.
std::string render_in_direction(const Result& result, const std::string& direction) {
  auto rows = Json::array();
  const FactsOf facts_of(result);
  each_followed(result, [&](const Case& of, const std::string& name, const Metric& metric) {
    const auto shown = shown_metric(of, name);
    if (shown.better != direction) return;
    const auto p50 = *metric.quantiles.p50;
    Json row = {{"name", of.key + "/" + name}, {"unit", shown.unit}, {"value", p50}};
    row["extra"] =
        fmt::format("{}; {}", counted(metric.launch_medians.size(), "launch", "launches"),
                    in_words(facts_of.row(of, name)));
    if (const auto interval = interval_of(metric)) {
      // It knows one number after a sign; the whole interval is for people.
      row["range"] = fmt::format("± {:.3g}", std::max(p50 - interval->low, interval->high - p50));
    }
    rows.push_back(std::move(row));
  });
  return to_json_text(rows);
}

std::string render_smaller(const Result& result, const RenderOptions&) {
  return render_in_direction(result, "lower");
}

std::string render_bigger(const Result& result, const RenderOptions&) {
  return render_in_direction(result, "higher");
}

/// Its format has a place for numbers alone. So what is measured on something else than it seems is
/// another benchmark there, by its labels.
std::string bencher_name(const RowFacts& facts) {
  return facts.key + (facts.labels.empty() ? "" : " [" + facts.labels + "]");
}

std::string render_bencher(const Result& result, const RenderOptions&) {
  auto benchmarks = Json::object();
  const FactsOf facts_of(result);
  each_followed(result, [&](const Case& of, const std::string& name, const Metric& metric) {
    auto& measure = benchmarks[bencher_name(facts_of.row(of, name))][name];
    measure["value"] = *metric.quantiles.p50;
    const auto interval = interval_of(metric);
    if (!interval) return;
    measure["lower_value"] = interval->low;
    measure["upper_value"] = interval->high;
  });
  return to_json_text(benchmarks);
}

const RegisterFormat smaller_format{
    {.name = "smaller-is-better",
     .description = "times, for github-action-benchmark's customSmallerIsBetter",
     .render = render_smaller}};

const RegisterFormat bigger_format{
    {.name = "bigger-is-better",
     .description = "rates, for github-action-benchmark's customBiggerIsBetter",
     .render = render_bigger}};

const RegisterFormat bencher_format{{.name = "bencher",
                                     .description = "Bencher Metric Format, for its adapter json",
                                     .render = render_bencher}};

}  // namespace
}  // namespace ucxbench
