#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "harness/analysis/rules/rules.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Below, a difference is none that anybody would act on.
constexpr double least_ratio = 1.1;

/// A parameter that says how UCX is used.
struct UseAxis {
  const char* parameter;
  Json usual;  ///< what others are held against, as run files have it
  const char* next;
  bool rates_alone = false;  ///< a time of several threads is no cost: they share the processors
};

const std::array<UseAxis, 8>& axes() {
  static const std::array<UseAxis, 8> all = {{
      {"error_mode", "none", "ask for peer only where peers may be lost"},
      {"buffer", "contiguous", "send one contiguous buffer"},
      {"register", "ucx", "leave memory handles to UCX's cache"},
      {"receives", "expected", "post receives before messages come"},
      {"header_bytes", nullptr, "put what is long into the payload"},
      {"threads", 1, "use fewer threads, or --workers own", true},
      {"workers", "own", "give each thread a worker of its own"},
      {"endpoints", 1, "use one endpoint for a peer"},
  }};
  return all;
}

std::string axis_name(const UseAxis& axis) {
  std::string name = axis.parameter;
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string axis_value(const UseAxis& axis, const Case& of) {
  return text_at(of.parameters, std::string("/") + axis.parameter, "none");
}

/// The parameters without the axis; a run's cases that agree in these differ in it alone.
std::string others_of(const Case& of, const char* axis) {
  auto parameters = of.parameters;
  parameters.erase(axis);
  return Json{of.benchmark, std::move(parameters)}.dump();
}

struct Cost {
  const UseAxis* axis;
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

std::optional<Cost> worst_cost(const UseAxis& axis, const Case& own, const Case& usual) {
  std::optional<Cost> worst;
  for (const auto& metric : own.shows.metrics) {
    const bool rate = metric.better == "higher";
    // Of some axes the message rate is the figure, and nothing else says it.
    if ((!metric.judged && metric.name != "message_rate_per_s") || (axis.rates_alone && !rate)) {
      continue;
    }
    const auto ratio = slowdown(own, usual, metric);
    if (!ratio || *ratio < least_ratio || (worst && worst->ratio >= *ratio)) continue;
    worst = Cost{&axis, &own, &usual, &metric, *ratio};
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
              "{} {}, {}: {} {}, {} times as slow as {} ({})", axis_name(*cost.axis),
              axis_value(*cost.axis, *cost.own), row_of(*cost.own), cost.metric->title,
              figure_in_words(*cost.metric, *cost.own), significant(cost.ratio, 3),
              axis_value(*cost.axis, *cost.usual), figure_in_words(*cost.metric, *cost.usual)),
          .next = cost.axis->next};
}

}  // namespace

std::vector<Finding> axis_cost(const Judged& run) {
  std::vector<Finding> findings;
  for (const auto& axis : axes()) {
    std::map<std::string, const Case*> usual;
    const auto each = [&](auto step) {
      for (const auto& block : run.blocks) {
        for (const auto* of : block.measured) {
          const auto value = of->parameters.find(axis.parameter);
          if (value != of->parameters.end()) step(*of, *value == axis.usual);
        }
      }
    };
    each([&](const Case& of, bool is_usual) {
      if (is_usual) usual.emplace(others_of(of, axis.parameter), &of);
    });
    std::map<std::string, Cost> by_set;  // the worst
    each([&](const Case& of, bool is_usual) {
      const auto other = is_usual ? usual.end() : usual.find(others_of(of, axis.parameter));
      if (other == usual.end()) return;
      const auto cost = worst_cost(axis, of, *other->second);
      if (!cost) return;
      const auto [at, added] = by_set.emplace(text_at(of.parameters, "/transports"), *cost);
      if (!added && at->second.ratio < cost->ratio) at->second = *cost;
    });
    for (const auto& [set, cost] : by_set) findings.push_back(finding_of(cost));
  }
  return findings;
}

}  // namespace ucxbench
