#include "harness/analysis/comparison/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/analysis/comparison/trend.hpp"

namespace ucxbench {
namespace {

Matched values_of(const SeriesChange& series, const Result& base, const Result& now,
                  const Placements& placements) {
  // A duet's sides met the same.
  if (!series.base || !series.now || series.method == Method::duets) return {};
  return placements.matched(*find_case(base, series.key), *find_case(now, series.key),
                            series.metric);
}

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

void judge_drift(SeriesChange& series, bool in_turns) {
  if (!series.base_drift && !series.new_drift) return;
  const bool alike =
      series.base_drift && series.new_drift && (*series.base_drift > 0) == (*series.new_drift > 0);
  if (in_turns && alike) {
    add_remark(series, drift_in_words(series) + ": alike, as they were interleaved");
    return;
  }
  series.change = Change::inconclusive;
  series.doubt = Doubt::none;
  series.reason = "drift";
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

}  // namespace

void add_remark(SeriesChange& series, const std::string& remark) {
  series.remark += (series.remark.empty() ? "" : "; ") + remark;
}

const Case* find_case(const Result& result, const std::string& key) {
  const auto found = std::ranges::find(result.cases, key, &Case::key);
  return found == result.cases.end() ? nullptr : &*found;
}

void look_at_shapes(std::vector<SeriesChange>& series, const Result& base, const Result& now,
                    const Placements& placements, double alpha, bool in_turns) {
  std::vector<Matched> values;
  std::vector<Trend> trends;  // of each series' base, then of its new run
  std::vector<double> p;
  for (const auto& row : series) {
    values.push_back(values_of(row, base, now, placements));
    for (const auto* side : {&values.back().base, &values.back().now}) {
      trends.push_back(trend_of(*side));
      p.push_back(trends.back().p);
    }
  }
  const auto corrected = holm(p);
  for (std::size_t at = 0; at < series.size(); ++at) {
    auto& row = series[at];
    if (!row.base || !row.now || row.method == Method::duets) continue;
    const auto drift = [&](std::size_t which) -> std::optional<double> {
      const auto change = trends[which].change;
      if (corrected[which] >= alpha || std::abs(change) <= row.floor) return std::nullopt;
      return change;
    };
    row.base_drift = drift(2 * at);
    row.new_drift = drift(2 * at + 1);
    judge_drift(row, in_turns);
    // Matched medians have modes then that neither run has.
    if (!row.differs_by_placement.empty()) continue;
    name_modes(row, values[at].base, row.base_modes, "base");
    name_modes(row, values[at].now, row.new_modes, "new");
  }
}

}  // namespace ucxbench
