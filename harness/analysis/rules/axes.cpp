#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Below, a difference is none that anybody would act on.
constexpr double least_ratio = 1.1;

std::string parameter_in_words(const Usage& use) {
  auto name = use.parameter;
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string value_in_words(const Usage& use, const Case& of) {
  return text_at(of.parameters.value(use.parameter, Json()), "", "none");
}

/// What a run has one case of.
std::string identity(const Case& of, const Json& parameters) {
  return Json{of.benchmark, parameters}.dump();
}

struct Cost {
  const Usage* use;
  const Case* own;
  const Case* usual;
  const ShownMetric* metric;
  double ratio;  ///< how many times as slow
};

/// How many times as slow `own` is, where the intervals over launches are apart.
std::optional<double> slowdown(const Case& own, const Case& usual, const ShownMetric& metric) {
  const auto mine = own.metrics.find(metric.name);
  const auto theirs = usual.metrics.find(metric.name);
  if (mine == own.metrics.end() || theirs == usual.metrics.end()) return std::nullopt;
  const bool lower = metric.better == "lower";
  const auto& less = lower ? theirs->second : mine->second;
  const auto& more = lower ? mine->second : theirs->second;
  if (!less.ci95 || !more.ci95 || (*less.ci95)[1] >= (*more.ci95)[0]) return std::nullopt;
  if (!less.quantiles.p50 || !more.quantiles.p50 || *less.quantiles.p50 <= 0) return std::nullopt;
  return *more.quantiles.p50 / *less.quantiles.p50;
}

std::optional<Cost> worst_cost(const Usage& use, const Case& own, const Case& usual) {
  std::optional<Cost> worst;
  for (const auto& metric : own.shows.metrics) {
    const bool rate = metric.better == "higher";
    // Of some uses the message rate is the figure, and nothing else says it.
    if ((!metric.judged && metric.name != "message_rate_per_s") || (use.rates_alone && !rate)) {
      continue;
    }
    const auto ratio = slowdown(own, usual, metric);
    if (!ratio || *ratio < least_ratio || (worst && worst->ratio >= *ratio)) continue;
    worst = Cost{&use, &own, &usual, &metric, *ratio};
  }
  return worst;
}

/// "3.00 us", "1.20 M/s".
std::string figure_in_words(const ShownMetric& metric, const Case& of) {
  const auto& value = of.metrics.at(metric.name).quantiles.p50;
  if (metric.unit == "1/s") return significant(*value / 1e6, 3) + " M/s";
  return significant(*value, 3) + " " + metric.unit;
}

Finding finding_of(const Cost& cost) {
  return {.subject = cost.usual->shows.title,
          .evidence = fmt::format(
              "{} {}, {}: {} {}, {} times as slow as {} ({})", parameter_in_words(*cost.use),
              value_in_words(*cost.use, *cost.own), row_of(*cost.own), cost.metric->title,
              figure_in_words(*cost.metric, *cost.own), significant(cost.ratio, 3),
              value_in_words(*cost.use, *cost.usual), figure_in_words(*cost.metric, *cost.usual)),
          .next = cost.use->next};
}

}  // namespace

std::vector<Finding> axis_cost(const Judged& run) {
  std::map<std::string, const Case*> cases;
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) cases.emplace(identity(*of, of->parameters), of);
  }
  std::map<std::pair<std::string, std::string>, Cost> worst;  // by parameter and set
  for (const auto& block : run.timed) {
    for (const auto* of : block.measured) {
      for (const auto& use : of->shows.unusual) {
        auto parameters = of->parameters;
        parameters[use.parameter] = use.usual;
        const auto usual = cases.find(identity(*of, parameters));
        if (usual == cases.end()) continue;
        const auto cost = worst_cost(use, *of, *usual->second);
        if (!cost) continue;
        const auto set = text_at(of->parameters, "/transports");
        const auto [at, added] = worst.emplace(std::pair(use.parameter, set), *cost);
        if (!added && at->second.ratio < cost->ratio) at->second = *cost;
      }
    }
  }
  std::vector<Finding> findings;
  for (const auto& [of, cost] : worst) findings.push_back(finding_of(cost));
  return findings;
}

}  // namespace ucxbench
