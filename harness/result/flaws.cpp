#include "harness/result/flaws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

/// Each launch of a set measures all of its cases: of those that have as many as any, the run was
/// lost in none, unless all have as many.
void fail_those_with_fewer_launches(Result& run) {
  const auto is_measured = [](const Case& of) {
    return of.state == CaseState::measured && !is_canary(of);
  };
  const auto last = [](const Case& of) {
    return of.launches.empty() ? -1 : of.launches.back().launch;
  };
  int least = most_launches;
  int most = -1;
  for (const auto& of : run.cases) {
    if (!is_measured(of)) continue;
    least = std::min(least, last(of));
    most = std::max(most, last(of));
  }
  for (auto& of : run.cases) {
    if (!is_measured(of) || (last(of) == most && least < most)) continue;
    of.state = CaseState::failed;
    of.reason = text_at(run.run, "/reason", "the run failed");
  }
}

}  // namespace

std::optional<Flaw> flaw_of(const Case& of) {
  if (of.verified.errors > 0) return Flaw::wrong_data;
  if (of.state == CaseState::failed) return Flaw::failed;
  if (has_label(of, Label::interrupted)) return Flaw::interrupted;
  return std::nullopt;
}

bool has_failed(const Case& of) {
  const auto flaw = flaw_of(of);
  return flaw && *flaw != Flaw::interrupted;
}

std::string in_words(Flaw flaw, const Case& of) {
  if (flaw == Flaw::interrupted) return "a launch was interrupted";
  if (!of.reason.empty()) return on_one_line(of.reason);
  return flaw == Flaw::wrong_data ? "wrong data" : "no reason recorded";
}

void drop_figures(Case& failed) {
  failed.metrics.clear();
  failed.pairs = failed.phases = failed.limits = failed.links = Json::array();
  failed.exchange = failed.sweep = Json::object();
}

void fail_cases_of_older(Result& run) {
  for (auto& of : run.cases) {
    if (of.verified.errors == 0 || of.state != CaseState::measured) continue;
    of.state = CaseState::failed;
    of.reason =
        fmt::format("{} of {} checks found wrong data", of.verified.errors, of.verified.checked);
  }
  // Of `ab` each side keeps whole launches alone, and may have failed for the other's sake. `check`
  // goes on, and says between which ranks launches were lost.
  const bool says_where = run.run.contains("ab") || run.run.contains("lost_launches");
  const bool lost = text_at(run.run, "/state", "") == "failed" && !says_where;
  if (lost && std::ranges::none_of(run.cases, has_failed)) fail_those_with_fewer_launches(run);
  for (auto& of : run.cases) {
    if (has_failed(of)) drop_figures(of);
  }
}

}  // namespace ucxbench
