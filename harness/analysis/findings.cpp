#include "harness/analysis/findings.hpp"

#include <algorithm>
#include <array>

#include "harness/analysis/rules/judged.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr std::array severities = {Severity::error, Severity::warning, Severity::note};

/// What a rule says of that many ranks or pairs one by one; the rest is counted.
constexpr std::size_t most_of_a_rule = 8;

std::size_t badness(const Json& finding) {
  const auto word = text_at(finding, "/severity", "");
  const auto found = std::ranges::find(severities, word, [](auto of) { return to_string(of); });
  return static_cast<std::size_t>(found - severities.begin());
}

Json worst_first(Json findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Json& a, const Json& b) { return badness(a) < badness(b); });
  return findings;
}

void add_seen(const Rule& rule, std::vector<Finding> seen, Json& findings) {
  if (seen.size() > most_of_a_rule) {
    seen[most_of_a_rule - 1].evidence +=
        "; and " + counted(seen.size() - most_of_a_rule, "more of this kind", "more of this kind");
    seen.resize(most_of_a_rule);
  }
  for (const auto& [subject, evidence, next, cost_ms] : seen) {
    findings.push_back({{"id", rule.id},
                        {"severity", to_string(rule.severity)},
                        {"subject", subject},
                        {"evidence", evidence},
                        {"cost_ms", cost_ms ? Json(*cost_ms) : Json()},
                        {"next", next}});
  }
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

Json findings_of(const Result& result) {
  const Judged run(result);
  Json findings = Json::array();
  for (const auto& rule : rules()) add_seen(rule, rule.check(run), findings);
  return worst_first(std::move(findings));
}

Json shown_findings(const Result& result) {
  return result.findings.empty() ? findings_of(result) : worst_first(result.findings);
}

}  // namespace ucxbench
