#include "harness/report/facts.hpp"

#include <fmt/format.h>

#include "harness/analysis/findings.hpp"
#include "harness/analysis/rules/judged.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/media.hpp"
#include "harness/result/paths.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

FactsOf::FactsOf(const Result& result)
    : result_(result),
      quality_(in_words(quality_of(result))),
      impossible_(impossible_cases(Judged(result))) {}

RowFacts FactsOf::row(const Case& of, const std::string& metric) const {
  RowFacts facts{.key = of.key,
                 .parameters = json_text(of.parameters),
                 .transport = carriers_in_words(of.path),
                 .labels = join(labels_of(result_, of), ", "),
                 .quality = quality_,
                 .metric = metric,
                 .unit = metric.empty() ? "" : shown_metric(of, metric).unit,
                 .interval = {}};
  if (const auto why = impossible_.find(of.key); why != impossible_.end()) {
    facts.quality += "; impossible: " + why->second;
  }
  const auto found = of.metrics.find(metric);
  if (found != of.metrics.end()) facts.interval = interval_of(found->second);
  return facts;
}

std::vector<std::pair<std::string_view, std::string>> named(const RowFacts& facts) {
  std::vector<std::pair<std::string_view, std::string>> all = {{"unit", facts.unit},
                                                               {"transport_used", facts.transport},
                                                               {"labels", facts.labels},
                                                               {"quality", facts.quality},
                                                               {"parameters", facts.parameters}};
  if (facts.interval) {
    const auto& [low, high, kind] = *facts.interval;
    all.emplace_back(name_of(interval_kinds, kind), fmt::format("{:.6g}..{:.6g}", low, high));
  }
  std::erase_if(all, [](const auto& fact) { return fact.second.empty(); });
  return all;
}

std::string in_words(const RowFacts& facts) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : named(facts)) parts.push_back(fmt::format("{} {}", name, value));
  return join(parts, "; ");
}

std::vector<std::pair<std::string_view, std::string>> facts_of_run(const Result& result) {
  std::vector<std::string> carriers;
  for (const auto& of : result.cases) {
    if (const auto by = carriers_in_words(of.path); !by.empty()) add_once(carriers, by);
  }
  std::vector<std::pair<std::string_view, std::string>> all = {
      {"transport_used", join(carriers, "; ")},
      {"labels", join(labels_of(result), ", ")},
      {"quality", in_words(quality_of(result))}};
  std::erase_if(all, [](const auto& fact) { return fact.second.empty(); });
  return all;
}

}  // namespace ucxbench
