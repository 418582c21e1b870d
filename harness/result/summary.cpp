#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/core/statistics.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/flaws.hpp"
#include "harness/result/interval.hpp"
#include "harness/result/result.hpp"
#include "harness/result/workload_summary.hpp"

namespace ucxbench {
namespace {

using Field = std::optional<double> Quantiles::*;
using PerLaunch = std::map<int, std::vector<const Samples*>>;  ///< the pairs of each launch

/// Per launch, in launch order, the median over its pairs; launches without a value are left out.
std::vector<double> medians_over_pairs(const PerLaunch& launches, Field field) {
  std::vector<double> medians;
  for (const auto& [launch, pairs] : launches) {
    std::vector<double> values;
    for (const auto* samples : pairs) {
      if (const auto& value = samples->quantiles.*field) values.push_back(*value);
    }
    if (!values.empty()) medians.push_back(median(std::move(values)));
  }
  return medians;
}

std::optional<double> median_if_any(std::vector<double> values) {
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

void take_extremes(Quantiles& all, const Quantiles& more) {
  if (more.min) all.min = std::min(all.min.value_or(*more.min), *more.min);
  if (more.max) all.max = std::max(all.max.value_or(*more.max), *more.max);
}

Metric over_launches(const PerLaunch& launches) {
  Metric metric;
  for (const auto& [launch, pairs] : launches) {
    for (const auto* samples : pairs) {
      ++metric.quantiles.count;
      metric.samples_seen += samples->seen;
      take_extremes(metric.quantiles, samples->quantiles);
    }
  }
  metric.launch_medians = medians_over_pairs(launches, &Quantiles::p50);
  metric.ci95 = median_ci95(metric.launch_medians);
  for (const Field field : {&Quantiles::p50, &Quantiles::p90, &Quantiles::p99, &Quantiles::p999}) {
    // A quantile that some launch is too short for would be of other launches than the median.
    auto medians = medians_over_pairs(launches, field);
    if (medians.size() < launches.size()) medians.clear();
    metric.quantiles.*field = median_if_any(std::move(medians));
  }
  return metric;
}

struct PairTotals {
  std::uint64_t messages = 0;
  std::vector<double> latency_us;      ///< launch medians
  std::vector<double> launch_GBps;     ///< launch medians
  std::vector<double> bandwidth_GBps;  ///< kept samples of all launches
};

Json pairs_of(const Case& of) {
  std::map<std::pair<int, int>, PairTotals> totals;
  for (const auto& record : of.launches) {
    auto& total = totals[{record.src, record.dst}];
    total.messages += record.messages;
    if (const auto latency = record.samples.find("latency_us"); latency != record.samples.end()) {
      if (const auto& p50 = latency->second.quantiles.p50) total.latency_us.push_back(*p50);
    }
    if (const auto rate = record.samples.find("bandwidth_GBps"); rate != record.samples.end()) {
      if (const auto& p50 = rate->second.quantiles.p50) total.launch_GBps.push_back(*p50);
      std::copy_if(rate->second.values.begin(), rate->second.values.end(),
                   std::back_inserter(total.bandwidth_GBps),
                   [](double value) { return std::isfinite(value); });
    }
  }
  const auto bytes = bytes_of(of).value_or(0);
  Json pairs = Json::array();
  for (auto& [ranks, total] : totals) {
    auto& rates = total.bandwidth_GBps;
    std::sort(rates.begin(), rates.end());
    const auto quartile = [&rates](double q) {
      return rates.empty() ? Json(nullptr) : Json(quantile_of_sorted(rates, q));
    };
    // Member by member, as launch_to_json().
    auto& pair = pairs.emplace_back(Json::object());
    pair["src"] = ranks.first;
    pair["dst"] = ranks.second;
    pair["bytes"] = total.messages * bytes;
    pair["messages"] = total.messages;
    pair["latency_p50_us"] = number_or_null(median_if_any(total.latency_us));
    pair["p25_GBps"] = quartile(0.25);
    pair["p50_GBps"] = quartile(0.5);
    pair["p75_GBps"] = quartile(0.75);
    if (totals.size() > most_pairs_with_intervals) continue;
    pair["intervals"] = {{"latency_p50_us", to_json(interval_over(std::move(total.latency_us)))},
                         {"p50_GBps", to_json(interval_over(std::move(total.launch_GBps)))}};
  }
  return pairs;
}

}  // namespace

void summarize(Case& measured) {
  if (has_failed(measured)) {
    drop_figures(measured);
    return;
  }
  std::map<std::string, PerLaunch> metrics;
  for (const auto& record : measured.launches) {
    for (const auto& [name, samples] : record.samples) {
      metrics[name][record.launch].push_back(&samples);
    }
  }
  measured.metrics.clear();
  for (const auto& [name, launches] : metrics) {
    auto metric = over_launches(launches);
    metric.better = shown_metric(measured, name).better;
    measured.metrics[name] = std::move(metric);
  }
  const bool alone = is_canary(measured);  // it is but one process
  measured.pairs = alone ? Json::array() : pairs_of(measured);
  summarize_workload(measured);
}

}  // namespace ucxbench
