#include "harness/analysis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/analysis/rules/judged.hpp"
#include "harness/core/names.hpp"
#include "harness/result/cases.hpp"
#include "harness/result/flaws.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr Names<Severity, 3> severities = {
    {{Severity::error, "error"}, {Severity::warning, "warning"}, {Severity::note, "note"}}};

/// What a rule says of that many ranks or pairs one by one; the rest is counted.
constexpr std::size_t most_of_a_rule = 8;

std::size_t badness(const Json& finding) {
  const auto severity = value_of(severities, text_at(finding, "/severity", ""));
  return severity ? static_cast<std::size_t>(*severity) : severities.size();
}

Json worst_first(Json findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Json& a, const Json& b) { return badness(a) < badness(b); });
  return findings;
}

/// What a finding says whatever its host is called: "" of a host itself, "mlx5_0", "ranks".
std::string without_host(const Finding& finding) {
  if (finding.subject == finding.host) return "";
  const auto end = " on " + finding.host;
  const bool named = finding.subject.ends_with(end);
  return named ? finding.subject.substr(0, finding.subject.size() - end.size()) : finding.subject;
}

std::string hosts_in_words(const std::vector<std::string>& hosts, std::size_t all) {
  constexpr std::size_t most_hosts_named = 4;
  if (hosts.size() == all) return fmt::format("all {} hosts", all);
  auto named = hosts;
  named.resize(std::min(named.size(), most_hosts_named));
  const auto more = hosts.size() - named.size();
  return join(named, ", ") + (more == 0 ? "" : fmt::format(" and {} more hosts", more));
}

std::vector<Finding> once_for_hosts(std::vector<Finding> seen, std::size_t all) {
  if (all < 2) return seen;
  struct Same {
    Finding finding;
    std::string what;
    std::vector<std::string> hosts;
  };
  std::vector<Same> groups;
  for (auto& finding : seen) {
    const auto what = without_host(finding);
    const auto is_same = [&](const Same& same) {
      return !finding.host.empty() && !same.hosts.empty() && same.what == what &&
             same.finding.evidence == finding.evidence && same.finding.next == finding.next &&
             std::ranges::find(same.hosts, finding.host) == same.hosts.end();
    };
    auto group = std::ranges::find_if(groups, is_same);
    if (group == groups.end()) group = groups.insert(group, {finding, what, {}});
    if (!finding.host.empty()) group->hosts.push_back(finding.host);
  }
  std::vector<Finding> once;
  for (auto& [finding, what, hosts] : groups) {
    if (!hosts.empty()) {
      const auto where = hosts_in_words(hosts, all);
      finding.subject = what.empty() ? where : what + " on " + where;
    }
    once.push_back(std::move(finding));
  }
  return once;
}

void add_seen(const Rule& rule, std::vector<Finding> seen, Json& findings) {
  if (seen.size() > most_of_a_rule) {
    seen[most_of_a_rule - 1].evidence +=
        "; and " + counted(seen.size() - most_of_a_rule, "more of this kind", "more of this kind");
    seen.resize(most_of_a_rule);
  }
  for (const auto& [subject, evidence, next, cost_ms, host, of, device] : seen) {
    findings.push_back({{"id", rule.id},
                        {"severity", to_string(rule.severity)},
                        {"subject", subject},
                        {"evidence", evidence},
                        {"cost_ms", number_or_null(cost_ms)},
                        {"next", next}});
  }
}

}  // namespace

std::string_view to_string(Severity severity) { return name_of(severities, severity); }

Json findings_of(const Result& result) {
  const Judged run(result);
  Json findings = Json::array();
  const auto hosts = hosts_of(run).size();
  for (const auto& rule : rules()) {
    add_seen(rule, once_for_hosts(said_by(rule, run), hosts), findings);
  }
  return worst_first(std::move(findings));
}

bool of_quality(const Json& finding) {
  const auto rule = std::ranges::find(rules(), text_at(finding, "/id"), &Rule::id);
  return rule != rules().end() && rule->of_quality;
}

Quality quality_of(const Result& result) {
  Quality quality{.level = "good", .reasons = {}};
  const auto labels = result.machine.value("labels", Json::array());
  if (std::ranges::find(labels, Json("vm")) != labels.end()) {
    quality = {.level = "fair", .reasons = {"virtual machine"}};
  }
  if (std::ranges::any_of(result.cases, is_time_sliced)) {
    quality.level = "poor";
    quality.reasons.emplace_back("ranks take turns on one GPU (no CUDA MPS)");
  }
  for (const auto& finding : result.findings) {
    if (!of_quality(finding)) continue;
    const bool poor = text_at(finding, "/severity") != "note";
    if (poor || quality.level == "good") quality.level = poor ? "poor" : "fair";
    // What stands after a colon is for those who want to know more.
    const auto evidence = text_at(finding, "/evidence");
    const auto reason = evidence.substr(0, evidence.find(": "));
    if (std::ranges::find(quality.reasons, reason) == quality.reasons.end()) {
      quality.reasons.push_back(reason);
    }
  }
  const auto measured = result.cases.size() -
                        static_cast<std::size_t>(std::ranges::count_if(result.cases, is_canary));
  const auto failed = static_cast<std::size_t>(std::ranges::count_if(result.cases, has_failed));
  if (failed > 0 || text_at(result.run, "/state", "") == "failed") {
    quality.level = "failed";
    quality.reasons.insert(
        quality.reasons.begin(),
        failed > 0 ? fmt::format("{} of {} did not pass", failed, counted(measured, "case"))
                   : "the run ended before its time");
  }
  return quality;
}

std::string in_words(const Quality& quality) {
  return quality.level + (quality.reasons.empty() ? "" : ": " + join(quality.reasons, "; "));
}

std::vector<std::string> impossible_figures(const Judged& run) {
  std::vector<std::string> figures;
  for (const auto& [of, finding] : run.impossible) {
    figures.push_back(finding.subject + ": " + finding.evidence);
  }
  return figures;
}

std::map<std::string, std::string> impossible_cases(const Judged& run) {
  std::map<std::string, std::string> cases;
  for (const auto& [of, finding] : run.impossible) cases.emplace(of->key, finding.evidence);
  return cases;
}

std::vector<std::string> reasons_against_measuring(const Json& findings) {
  std::vector<std::string> reasons;
  for (const auto& finding : findings) {
    if (text_at(finding, "/severity") != "note") add_once(reasons, text_at(finding, "/id"));
  }
  return reasons;
}

}  // namespace ucxbench
