#include "harness/analysis/comparison/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/analysis/comparison/host_drift.hpp"
#include "harness/analysis/comparison/judge.hpp"
#include "harness/analysis/comparison/trend.hpp"

namespace ucxbench {
namespace {

std::string drift_in_words(const SeriesChange& series) {
  const auto percent = [](double change) { return fmt::format("{:+.1f} %", 100 * change); };
  if (series.base_drift && series.new_drift) {
    return fmt::format("both runs drifted, by {} and {} from first to last launch",
                       percent(*series.base_drift), percent(*series.new_drift));
  }
  return fmt::format("{} run drifted by {} from first to last launch",
                     series.base_drift ? "base" : "new",
                     percent(series.base_drift.value_or(series.new_drift.value_or(0))));
}

// Both runs may have gone the same way, one after the other.
Factors factors_of_drift(const SeriesChange& series) {
  double most = 1;
  for (const auto& drift : {series.base_drift, series.new_drift}) {
    const auto factor = 1 + drift.value_or(0);
    most *= std::max(factor, 1 / factor);
  }
  return {1 / most, most};
}

void judge_drift(SeriesChange& series, bool in_turns) {
  if (!series.base_drift && !series.new_drift) return;
  const bool alike =
      series.base_drift && series.new_drift && (*series.base_drift > 0) == (*series.new_drift > 0);
  if (in_turns && alike) {
    add_remark(series, drift_in_words(series) + ": alike, as they were interleaved");
    return;
  }
  const bool decided = series.change != Change::inconclusive;
  if (decided && !explains(factors_of_drift(series), series)) {
    add_remark(series, drift_in_words(series) + ": less than would change the verdict");
    return;
  }
  series.change = Change::inconclusive;
  series.doubt = Doubt::none;
  series.reason = Reason::drift;
  series.why = drift_in_words(series) + ": measure again when the machine is steady" +
               (in_turns ? "" : ", interleaved (ucx-bench ab)");
}

void name_modes(SeriesChange& series, const std::vector<double>& medians,
                std::optional<Modes>& modes, const char* run) {
  modes = two_modes_of_few(medians);
  if (!modes) return;
  add_remark(series, fmt::format("{} run has two modes: {:.4g} and {:.4g} ({:.0f} % of launches)",
                                 run, modes->low, modes->high, 100 * modes->share_high));
}

// Of one family of tests.
void look_at(const std::vector<Row*>& rows, double alpha, bool in_turns) {
  std::vector<Trend> trends;  // of each row's base, then of its new run
  std::vector<double> p;
  for (const auto* row : rows) {
    for (const auto* side : {&row->matched.base, &row->matched.now}) {
      trends.push_back(trend_of(*side));
      p.push_back(trends.back().p);
    }
  }
  const auto corrected = holm(p);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto& series = rows[at]->series;
    const auto& matched = rows[at]->matched;
    if (matched.strata.empty()) continue;
    const auto drift = [&](std::size_t which) -> std::optional<double> {
      const auto change = trends[which].change;
      if (corrected[which] >= alpha || is_within(1 + change, series.floor)) return std::nullopt;
      return change;
    };
    series.base_drift = drift(2 * at);
    series.new_drift = drift(2 * at + 1);
    judge_drift(series, in_turns);
    // Matched medians have modes then that neither run has.
    if (!series.differs_by_placement.empty()) continue;
    name_modes(series, matched.base, series.base_modes, "base");
    name_modes(series, matched.now, series.new_modes, "new");
  }
}

}  // namespace

void add_remark(SeriesChange& series, const std::string& remark) {
  series.remark += (series.remark.empty() ? "" : "; ") + remark;
}

const Case* find_case(const Result& result, const std::string& key) {
  const auto found = std::ranges::find(result.cases, key, &Case::key);
  return found == result.cases.end() ? nullptr : &*found;
}

void look_at_shapes(std::vector<Row>& rows, double alpha, bool in_turns) {
  for (const bool of_pairs : {false, true}) {
    std::vector<Row*> family;
    for (auto& row : rows) {
      if (row.series.pair.has_value() == of_pairs) family.push_back(&row);
    }
    look_at(family, alpha, in_turns);
  }
}

}  // namespace ucxbench
