#include "harness/report/comparison_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/report/markdown_text.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t page_width = 100;

std::string percent(double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); }

std::string interval_of(const SeriesChange& series) {
  if (!series.ratio.interval) return "-";
  return percent((*series.ratio.interval)[0]) + ".." + percent((*series.ratio.interval)[1]);
}

std::string of_tests(const Comparison& comparison) {
  return fmt::format("alpha {:g} over {} (Mann-Whitney of launch medians, Holm)", comparison.alpha,
                     counted(comparison.tests, "test"));
}

Json modes_json(const std::optional<Modes>& modes) {
  if (!modes) return {};
  return {{"low", modes->low}, {"high", modes->high}, {"share_high", modes->share_high}};
}

Json series_json(const SeriesChange& series) {
  const bool both = series.base && series.now;
  Json one = {{"key", series.key},
              {"metric", series.metric},
              {"better", better_direction(series.metric)},
              {"verdict", to_string(series.change)},
              {"base", number_or_null(series.base)},
              {"new", number_or_null(series.now)},
              {"base_launches", series.base_launches},
              {"new_launches", series.new_launches}};
  one["ratio"] = both ? Json(series.ratio.estimate) : Json();
  one["interval"] = number_or_null(series.ratio.interval);
  one["p"] = both ? Json(series.p) : Json();
  one["p_corrected"] = both ? Json(series.corrected) : Json();
  one["floor"] = both ? Json(series.floor) : Json();
  one["base_drift"] = number_or_null(series.base_drift);
  one["new_drift"] = number_or_null(series.new_drift);
  one["base_modes"] = modes_json(series.base_modes);
  one["new_modes"] = modes_json(series.new_modes);
  one["why"] = series.why;
  return one;
}

// What is said of one series alone.
bool needs_a_line(const SeriesChange& series, const Comparison& comparison) {
  const bool said = series.change == Change::inconclusive && !comparison.host_changed.empty();
  return !series.why.empty() && series.change != Change::added && !said;
}

std::string of_the_host(const Comparison& comparison) {
  return fmt::format("the host changed: {}: measure both again, in turns", comparison.host_changed);
}

}  // namespace

std::string summary_of(const Comparison& comparison) {
  if (!comparison.incomparable.empty()) return "incomparable: " + comparison.incomparable;
  std::vector<std::string> parts;
  for (const auto change : {Change::regressed, Change::improved, Change::inconclusive,
                            Change::missing, Change::added, Change::unchanged}) {
    const auto count = std::ranges::count(comparison.series, change, &SeriesChange::change);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, to_string(change)));
  }
  if (parts.empty()) return "nothing to compare";
  return (comparison.host_changed.empty() ? "" : "the host changed: ") + join(parts, ", ");
}

Grid grid_of(const Comparison& comparison) {
  const std::string interval = fmt::format("{:g}% CI", 100 * (1 - comparison.alpha));
  Grid grid{.columns = {{"", "verdict"},
                        {"", "case"},
                        {"", "metric"},
                        {"median of launches", "base"},
                        {"median of launches", "new"},
                        {"change, %", "median"},
                        {"change, %", interval},
                        {"change, %", "floor"},
                        {"", "p"}},
            .rows = {}};
  for (const auto& series : comparison.series) {
    const bool both = series.base && series.now;
    grid.rows.push_back({std::string(to_string(series.change)), on_one_line(series.key),
                         on_one_line(series.metric), significant(series.base, 4),
                         significant(series.now, 4), both ? percent(series.ratio.estimate) : "-",
                         interval_of(series),
                         both ? fmt::format("{:.1f}", 100 * series.floor) : "-",
                         both ? fmt::format("{:.2g}", series.corrected) : "-"});
  }
  return grid;
}

std::string comparison_table(const Comparison& comparison) {
  std::string text = summary_of(comparison) + "\n";
  for (const auto& difference : comparison.differences)
    text += wrapped(on_one_line(difference), "  ", page_width);
  if (!comparison.host_changed.empty())
    text += wrapped("! " + on_one_line(of_the_host(comparison)), "  ", page_width);
  if (comparison.series.empty()) return text;
  text += "  " + of_tests(comparison) + "\n";
  const auto lines = aligned(grid_of(comparison));
  for (const auto& header : lines.header) text += header + "\n";
  for (const auto& row : lines.rows) text += row + "\n";
  for (const auto& series : comparison.series) {
    if (!needs_a_line(series, comparison)) continue;
    text += wrapped(fmt::format("! {} {}: {}", series.key, series.metric, on_one_line(series.why)),
                    "  ", page_width);
  }
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = "### " + markdown_escaped(summary_of(comparison)) + "\n\n";
  for (const auto& difference : comparison.differences) {
    text += "- " + markdown_escaped(on_one_line(difference)) + "\n";
  }
  if (!comparison.host_changed.empty()) {
    text += "- " + markdown_escaped(on_one_line(of_the_host(comparison))) + "\n";
  }
  if (comparison.series.empty()) return text;
  text += "- " + markdown_escaped(of_tests(comparison)) + "\n\n";
  auto grid = grid_of(comparison);
  for (auto& row : grid.rows) {
    for (auto& cell : row) cell = markdown_escaped(cell);
  }
  text += markdown_table(grid);
  for (const auto& series : comparison.series) {
    if (!needs_a_line(series, comparison)) continue;
    text += "- " +
            markdown_escaped(series.key + " " + series.metric + ": " + on_one_line(series.why)) +
            "\n";
  }
  return text;
}

Json comparison_json(const Comparison& comparison) {
  Json all = {{"schema", "ucx-bench/comparison/1"},
              {"alpha", comparison.alpha},
              {"tests", comparison.tests},
              {"incomparable", comparison.incomparable},
              {"host_changed", comparison.host_changed},
              {"differences", comparison.differences},
              {"canaries", Json::array()},
              {"series", Json::array()}};
  for (const auto& one : comparison.canaries) all["canaries"].push_back(series_json(one));
  for (const auto& one : comparison.series) all["series"].push_back(series_json(one));
  return all;
}

}  // namespace ucxbench
