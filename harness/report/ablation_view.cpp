#include "harness/report/ablation_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/interval_text.hpp"
#include "harness/report/text.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

Grid ways_grid(const Json& entry) {
  const auto& ways = entry.at("ways");
  const auto known = [&](const char* name) {
    return std::ranges::any_of(ways,
                               [&](const Json& way) { return number_at(way, name).has_value(); });
  };
  const auto unit = text_at(entry, "/unit");
  const bool split = known("computing_ms");
  const bool recorded = known("recorded_ratio");
  const bool limits = known("limit_share") && !recorded;  // for which there is no room
  std::vector<std::string> parts;
  for (const auto& part : texts_of(entry.value("parts", Json::array()))) {
    if (known((part + "_ms").c_str())) parts.push_back(part);
  }
  std::vector<std::optional<Interval>> intervals;
  for (const auto& way : ways) {
    intervals.push_back(
        interval_from(way.contains("interval") ? way.at("interval") : way.value("ci95", Json())));
  }
  Grid grid{.columns = {{"", "configuration"},
                        {unit, "p50"},
                        {unit, interval_head(intervals)},
                        {"times the best", "ratio"},
                        {"times the best", "95% CI"}},
            .rows = {}};
  if (limits) grid.columns.push_back({split ? "exchange alone" : "", "% of peak"});
  if (recorded) grid.columns.push_back({"times", "recorded"});
  for (const auto& part : parts) grid.columns.push_back({"of it, ms", part});
  for (std::size_t at = 0; at < ways.size(); ++at) {
    const auto& way = ways[at];
    std::vector<std::string> row = {text_at(way, "/way"), significant(number_at(way, "p50"), 4),
                                    interval_cell(intervals[at], 3),
                                    significant(number_at(way, "ratio"), 3),
                                    interval_text(way, "ratio_ci95")};
    if (limits) {
      const auto share = number_at(way, "limit_share");
      row.push_back(share ? share_text(*share) + (*share > 1 ? " (above)" : "") : "-");
    }
    if (recorded) row.push_back(significant(number_at(way, "recorded_ratio"), 3));
    for (const auto& part : parts) {
      row.push_back(significant(number_at(way, (part + "_ms").c_str()), 3));
    }
    grid.rows.push_back(std::move(row));
  }
  for (const auto& way : entry.value("left_out", Json::array())) {
    std::vector<std::string> row(grid.columns.size(), no_cell);
    row.front() = fmt::format("{}, not ranked: {}", text_at(way, "/way"), text_at(way, "/flaw"));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

std::vector<Section> ablation_sections(const Result& result) {
  std::vector<Section> sections;
  for (const auto& entry : result.ablation) {
    if (text_at(entry, "/shown") != "yes") continue;
    sections.push_back({fmt::format("configurations, {}: {}, {}", text_at(entry, "/title"),
                                    text_at(entry, "/about"), text_at(entry, "/row")),
                        ways_grid(entry)});
  }
  return sections;
}

}  // namespace ucxbench
