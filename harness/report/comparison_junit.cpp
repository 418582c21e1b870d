#include <fmt/format.h>

#include <algorithm>

#include "harness/report/comparison_view.hpp"
#include "harness/report/facts.hpp"
#include "harness/report/junit.hpp"

namespace ucxbench {
namespace {

JunitOutcome outcome_of(Change change) {
  switch (change) {
    case Change::failed:
    case Change::regressed:
      return JunitOutcome::failure;
    case Change::missing:
      return JunitOutcome::error;
    case Change::inconclusive:
      return JunitOutcome::skipped;
    case Change::improved:
    case Change::added:
    case Change::unchanged:
      break;
  }
  return JunitOutcome::passed;
}

/// The cells of the table under their heads: "verdict regressed; base 1.1; change, % median +20.1".
std::string in_words(const Grid& grid, const std::vector<std::string>& row) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < row.size(); ++at) {
    const auto& [group, name] = grid.columns[at];
    if (row[at] == no_cell) continue;
    parts.push_back(fmt::format("{}{}{} {}", group, group.empty() ? "" : " ", name, row[at]));
  }
  return join(parts, "; ");
}

std::string facts_of_row(const SeriesChange& series) {
  std::string text;
  if (!series.labels.empty()) text += "; labels " + series.labels;
  if (!series.carriers[0].empty() || !series.carriers[1].empty()) {
    const auto known = [](const std::string& by) { return by.empty() ? unknown_cell : by; };
    text += fmt::format("; transport_used base {}, new {}", known(series.carriers[0]),
                        known(series.carriers[1]));
  }
  return text + (series.why.empty() ? "" : "; " + series.why) +
         (series.remark.empty() ? "" : "; " + series.remark);
}

}  // namespace

std::string comparison_junit(const Comparison& comparison, const Result& now) {
  JunitSuite suite{.program = "ucx-bench compare", .name = summary_of(comparison)};
  suite.properties = {{"run", text_at(now.run, "/id", "")}};
  for (auto& fact : facts_of_run(now)) suite.properties.push_back(std::move(fact));
  const auto rows = printed_rows(comparison);
  const auto grid = grid_of(comparison);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto& series = rows[at];
    const auto said = in_words(grid, grid.rows[at]) + facts_of_row(series);
    JunitCase of{.classname = series.key,
                 .name = series.metric + (series.pair ? " " + in_words(*series.pair) : ""),
                 .outcome = outcome_of(series.change)};
    const bool passed = of.outcome == JunitOutcome::passed;
    (passed ? of.output : of.message) = said;
    if (!passed) of.type = to_string(series.change);
    suite.cases.push_back(std::move(of));
  }
  if (!comparison.lost.empty()) {
    suite.cases.push_back({.classname = "comparison",
                           .name = "of the new run",
                           .outcome = JunitOutcome::failure,
                           .type = "failed",
                           .message = comparison.lost});
  }
  const auto undecided = nothing_decided(comparison);
  const bool said = std::ranges::any_of(
      suite.cases, [](const JunitCase& of) { return of.outcome != JunitOutcome::passed; });
  if (!comparison.incomparable.empty()) {
    suite.cases.push_back({.classname = "comparison",
                           .name = "of the two runs",
                           .outcome = JunitOutcome::error,
                           .type = "incomparable",
                           .message = comparison.incomparable});
  } else if (!undecided.empty() && !said) {
    suite.cases.push_back({.classname = "comparison",
                           .name = "of the two runs",
                           .outcome = JunitOutcome::skipped,
                           .type = std::string(to_string(Change::inconclusive)),
                           .message = undecided});
  }
  for (const auto& line : comparison.differences) suite.output += line + "\n";
  for (const auto& line : comparison.next_steps) suite.output += line + "\n";
  suite.output += undecided;
  return junit_text(suite, now);
}

}  // namespace ucxbench
