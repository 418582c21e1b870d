#include "harness/result/flaws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "harness/result/cases.hpp"
#include "harness/result/labels.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {

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
  for (auto& of : run.cases) {
    if (has_failed(of)) drop_figures(of);
  }
}

}  // namespace ucxbench
