#include "harness/report/comparison_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "harness/report/markdown_text.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {
namespace {

constexpr std::size_t most_rows_in_brief = 24;

std::string percent(double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); }

std::string interval_of(const SeriesChange& series) {
  if (!series.ratio.interval) return "-";
  return percent((*series.ratio.interval)[0]) + ".." + percent((*series.ratio.interval)[1]);
}

std::string of_tests(const Comparison& comparison) {
  const auto by = [&](Method method) {
    return std::ranges::count(comparison.series, method, &SeriesChange::method) > 0;
  };
  std::string tests = by(Method::launches) ? "rank test of launch medians (p50 alone), " : "";
  if (by(Method::duets)) tests += "signed-rank test of duets, ";
  std::string looks;
  if (by(Method::duets)) {
    for (const auto& look : comparison.looks) {
      if (look.share == 1) continue;
      looks += fmt::format("{}{}", looks.empty() ? "; duets judged after " : ", ", look.after);
    }
  }
  return fmt::format("alpha {:g} over {} ({}Holm{})", comparison.alpha,
                     counted(comparison.tests, "test"), tests, looks);
}

Json modes_json(const std::optional<Modes>& modes) {
  if (!modes) return {};
  return {{"low", modes->low}, {"high", modes->high}, {"share_high", modes->share_high}};
}

std::string joined(const std::string& why, const std::string& remark) {
  return why + (why.empty() || remark.empty() ? "" : "; ") + remark;
}

Json pair_json(const std::optional<RowPair>& pair) {
  if (!pair) return {};
  return {{"src", pair->src},
          {"dst", pair->dst},
          {"src_host", text_or_null(pair->src_host)},
          {"dst_host", text_or_null(pair->dst_host)},
          {"slowest_of", pair->slowest_of},
          {"stands_for", pair->stands_for},
          {"text", in_words(*pair)}};
}

std::string case_of(const SeriesChange& series) {
  return series.key + (series.pair ? " " + in_words(*series.pair) : "");
}

// What is said of one series alone, and by no line for all.
std::string said_of(const SeriesChange& series) {
  if (series.change == Change::added) return "";
  const bool said = series.doubt != Doubt::none || series.reason == Reason::host ||
                    series.reason == Reason::transport;
  return joined(said ? "" : series.why, series.remark);
}

// Of the medians of all launches, how far they are from saying the same change.
double away_from_plain(const SeriesChange& series) {
  // Launches of duets are not what is alike.
  if (!series.base || !series.now || !series.matched_base || series.method == Method::duets) {
    return 0;
  }
  return std::abs(*series.now / *series.base / series.ratio.estimate - 1);
}

std::string of_the_host(const Comparison& comparison) {
  return fmt::format("host reference drifted: {}: rerun interleaved (ucx-bench ab)",
                     comparison.host_changed);
}

// For rows of which none has a verdict.
std::string way_to_a_verdict(const Comparison& comparison) {
  if (!comparison.host_changed.empty()) return of_the_host(comparison);
  if (!comparison.next_steps.empty()) return comparison.next_steps.front();
  const auto open =
      std::ranges::find(comparison.series, Change::inconclusive, &SeriesChange::change);
  if (open != comparison.series.end()) return open->why;
  return "measure the same cases in both runs";
}

// Losses and gains stand first.
std::size_t rows_in_brief(const Comparison& comparison, std::size_t all) {
  const auto rest = std::ranges::find_if(comparison.series, [](const SeriesChange& series) {
    return series.change > Change::improved;
  });
  const auto first = static_cast<std::size_t>(rest - comparison.series.begin());
  return std::min(all, std::max(first, most_rows_in_brief));
}

}  // namespace

std::vector<std::string> lines_of_labels(const Comparison& comparison) {
  std::map<std::string, std::size_t> rows;
  for (const auto& series : comparison.series) ++rows[series.labels];
  std::vector<std::string> lines;
  for (const auto& [labels, count] : rows) {
    if (labels.empty()) continue;
    lines.push_back(fmt::format("labels: {}", on_one_line(labels)));
    if (rows.size() > 1) lines.back() += fmt::format(" ({})", counted(count, "row"));
  }
  return lines;
}

std::string summary_of(const Comparison& comparison) {
  if (!comparison.incomparable.empty()) return "incomparable: " + comparison.incomparable;
  std::vector<std::string> parts;
  for (const auto change : shown_changes) {
    const auto count = std::ranges::count(comparison.series, change, &SeriesChange::change);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, to_string(change)));
  }
  if (parts.empty()) return comparison.lost.empty() ? "nothing to compare" : comparison.lost;
  return (comparison.lost.empty() ? "" : comparison.lost + "; ") +
         (comparison.host_changed.empty() ? "" : "host reference drifted: ") + join(parts, ", ");
}

std::string nothing_decided(const Comparison& comparison) {
  constexpr std::string_view begin = "nothing was decided: ";
  if (!comparison.incomparable.empty()) {
    return fmt::format("{}the two runs cannot be compared: {}", begin, comparison.incomparable);
  }
  const auto is = [&](Change change) {
    return std::ranges::count(comparison.series, change, &SeriesChange::change);
  };
  if (has_loss(comparison) || is(Change::improved) + is(Change::unchanged) > 0) return "";
  if (comparison.series.empty()) {
    return fmt::format("{}the two runs have no metric to judge", begin);
  }
  std::vector<std::string> parts;
  for (const auto change : {Change::inconclusive, Change::missing, Change::added}) {
    if (is(change) == 0) continue;
    const auto of_rows = fmt::format(" of {} {}", counted(comparison.series.size(), "row"),
                                     comparison.series.size() == 1 ? "is" : "are");
    parts.push_back(
        fmt::format("{}{} {}", is(change), parts.empty() ? of_rows : "", to_string(change)));
  }
  return fmt::format("{}{}; {}", begin, join(parts, ", "), way_to_a_verdict(comparison));
}

std::string judged_by(const SeriesChange& series) {
  if (!series.base || !series.now) return "-";
  auto text = fmt::format("{}", series.base_launches);
  if (series.base_launches != series.new_launches) {
    text += fmt::format(", {}", series.new_launches);
  }
  return fmt::format("{} {}{}", text, to_string(series.method),
                     series.in_turns.empty() ? "" : " in turns");
}

std::string plain_medians_of(const Comparison& comparison) {
  std::size_t rows = 0;
  const SeriesChange* most = nullptr;
  for (const auto& series : comparison.series) {
    if (away_from_plain(series) <= series.floor) continue;
    ++rows;
    if (most == nullptr || away_from_plain(series) > away_from_plain(*most)) most = &series;
  }
  if (most == nullptr) return "";
  return fmt::format(
      "{}; medians over all launches differ in {}, most in {}: {} -> {}",
      comparison.placements.empty() ? "new is base times the change"
                                    : "values are of launches with the same placement",
      counted(rows, "row"), name_of(*most), significant(most->base, 4), significant(most->now, 4));
}

std::string explanation_of(const SeriesChange& series) { return joined(series.why, series.remark); }

std::optional<double> effect_of(const SeriesChange& series) {
  if (!series.base || !series.now || series.floor == 0) return std::nullopt;
  return times_the_floor(series);
}

std::string change_text(const std::optional<double>& ratio) {
  return ratio ? percent(*ratio) + " %" : "–";
}

Json comparison_cells(const SeriesChange& series) {
  constexpr const char* nothing = "–";
  const auto known = [](const std::optional<double>& value) {
    return value ? significant(value, 4) : "?";
  };
  const bool both = series.base && series.now;
  const auto& interval = series.ratio.interval;
  const auto effect = effect_of(series);
  return {{"base", known(series.matched_base)},
          {"new", known(matched_new(series))},
          {"delta", both && interval ? change_text(series.ratio.estimate) : nothing},
          {"interval",
           interval ? percent((*interval)[0]) + " to " + change_text((*interval)[1]) : nothing},
          {"p", both ? fmt::format("{:.2g}", series.corrected) : nothing},
          {"floor", both ? fmt::format("{:.1f} %", 100 * shown_floor(series)) : nothing},
          {"effect", effect ? significant(effect, 2) : nothing},
          {"why", explanation_of(series)},
          {"better", series.better},
          {"by", both ? judged_by(series) : nothing},
          {"in_turns", text_or_null(series.in_turns)}};
}

Grid grid_of(const Comparison& comparison) {
  const bool any_duets =
      std::ranges::count(comparison.series, Method::duets, &SeriesChange::method) > 0;
  const std::string interval = fmt::format("{:g}% CI", 100 * (1 - comparison.alpha));
  const std::string launches =
      comparison.placements.empty() || any_duets ? "median" : "same placement";
  Grid grid{.columns = {{"", "verdict"},
                        {"", "case"},
                        {"", "metric"},
                        {launches, "base"},
                        {launches, "new"},
                        {"change, %", "median"},
                        {"change, %", interval},
                        {"change, %", "floor"},
                        {"", "p"},
                        {"", "why"}},
            .rows = {}};
  for (const auto& series : printed_rows(comparison)) {
    const bool both = series.base && series.now;
    grid.rows.push_back(
        {std::string(to_string(series.change)), case_of(series), series.metric,
         significant(series.matched_base, 4), significant(matched_new(series), 4),
         series.ratio.interval ? percent(series.ratio.estimate) : "-", interval_of(series),
         both ? fmt::format("{:.1f}", 100 * shown_floor(series)) : "-",
         both ? fmt::format("{:.2g}", series.corrected) : "-",
         series.reason == Reason::none ? no_cell
                                       : std::string(name_of(reason_names, series.reason))});
    if (any_duets) grid.rows.back().push_back(judged_by(series));
  }
  if (any_duets) grid.columns.push_back({"", "by"});
  return grid;
}

std::string comparison_table(const Comparison& comparison, bool verbose, bool brief) {
  std::string text = on_one_line(summary_of(comparison)) + "\n";
  for (const auto& difference : comparison.differences)
    text += wrapped(difference, "  ", page_width());
  for (const auto& line : lines_of_labels(comparison)) text += wrapped(line, "  ", page_width());
  if (verbose && !comparison.placements.empty())
    text += wrapped("placements of base and new: " + comparison.placements, "  ", page_width());
  if (!comparison.host_changed.empty())
    text += wrapped("! " + of_the_host(comparison), "  ", page_width());
  const auto ending = [last = nothing_decided(comparison)] {
    return last.empty() ? "" : wrapped("! " + last, "  ", page_width());
  };
  if (comparison.series.empty()) return text + ending();
  text += "  " + of_tests(comparison) + "\n";
  const auto lines = aligned(grid_of(comparison));
  for (const auto& header : lines.header) text += header + "\n";
  const auto shown = brief ? rows_in_brief(comparison, lines.rows.size()) : lines.rows.size();
  for (std::size_t row = 0; row < shown; ++row) text += lines.rows[row] + "\n";
  if (shown < lines.rows.size()) {
    text += fmt::format("  {} of {} rows; --all-rows shows the rest\n", shown, lines.rows.size());
  }
  if (const auto line = plain_medians_of(comparison); !line.empty())
    text += wrapped("! " + line, "  ", page_width());
  for (const auto& step : comparison.next_steps) text += wrapped("! " + step, "  ", page_width());
  for (const auto& series : printed_rows(comparison)) {
    const auto said = said_of(series);
    if (said.empty()) continue;
    text += wrapped(fmt::format("! {}: {}", name_of(series), said), "  ", page_width());
  }
  return text + ending();
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = "### " + for_markdown(summary_of(comparison)) + "\n\n";
  for (const auto& difference : comparison.differences) {
    text += "- " + for_markdown(difference) + "\n";
  }
  for (const auto& line : lines_of_labels(comparison)) {
    text += "- " + for_markdown(line) + "\n";
  }
  if (!comparison.host_changed.empty()) {
    text += "- " + for_markdown(of_the_host(comparison)) + "\n";
  }
  const auto ending = [last = nothing_decided(comparison)] {
    return last.empty() ? "" : "- **" + for_markdown(last) + "**\n";
  };
  if (comparison.series.empty()) return text + ending();
  text += "- " + for_markdown(of_tests(comparison)) + "\n\n";
  auto grid = grid_of(comparison);
  text += markdown_table(grid);
  if (const auto line = plain_medians_of(comparison); !line.empty())
    text += "- " + for_markdown(line) + "\n";
  for (const auto& step : comparison.next_steps) text += "- " + for_markdown(step) + "\n";
  for (const auto& series : printed_rows(comparison)) {
    const auto said = said_of(series);
    if (said.empty()) continue;
    text += "- " + for_markdown(name_of(series) + ": " + said) + "\n";
  }
  return text + ending();
}

Json series_json(const SeriesChange& series) {
  const bool both = series.base && series.now;
  Json json = {
      {"key", series.key},
      {"metric", series.metric},
      {"pair", pair_json(series.pair)},
      {"better", series.better},
      {"verdict", to_string(series.change)},
      {"labels", text_or_null(series.labels)},
      {"transport_used",
       {{"base", text_or_null(series.carriers[0])}, {"new", text_or_null(series.carriers[1])}}},
      {"by", to_string(series.method)},
      {"in_turns", text_or_null(series.in_turns)},
      {"base", number_or_null(series.base)},
      {"new", number_or_null(series.now)},
      {"matched_base", number_or_null(series.matched_base)},
      {"matched_new", number_or_null(matched_new(series))},
      {"base_launches", series.base_launches},
      {"new_launches", series.new_launches}};
  json["ratio"] = both ? Json(series.ratio.estimate) : Json();
  json["interval"] = number_or_null(series.ratio.interval);
  json["p"] = both ? Json(series.p) : Json();
  json["p_corrected"] = both ? Json(series.corrected) : Json();
  json["floor"] = both ? Json(shown_floor(series)) : Json();
  json["base_drift"] = number_or_null(series.base_drift);
  json["new_drift"] = number_or_null(series.new_drift);
  json["base_modes"] = modes_json(series.base_modes);
  json["new_modes"] = modes_json(series.new_modes);
  json["launches_wanted"] = series.doubt == Doubt::none ? Json() : Json(series.launches_wanted);
  json["reason"] = text_or_null(std::string(name_of(reason_names, series.reason)));
  json["base_is_flawed"] = series.base_is_flawed;
  json["why"] = explanation_of(series);
  return json;
}

Json base_ranks_json(const Comparison& comparison) {
  auto all = Json::object();
  for (const auto& [key, numbers] : comparison.base_ranks) {
    auto& of_new = all[key] = Json::array();
    for (const auto& [now, base] : numbers) of_new.push_back({now, base});
  }
  return all;
}

Json comparison_json(const Comparison& comparison) {
  Json all = {{"schema", "ucx-bench/comparison/1"},
              {"alpha", comparison.alpha},
              {"tests", comparison.tests},
              {"looks", Json::array()},
              {"incomparable", comparison.incomparable},
              {"host_changed", comparison.host_changed},
              {"lost", text_or_null(comparison.lost)},
              {"differences", comparison.differences},
              {"placements", comparison.placements},
              {"plain_medians", plain_medians_of(comparison)},
              {"next_steps", comparison.next_steps},
              {"nothing_decided", text_or_null(nothing_decided(comparison))},
              {"canaries", Json::array()},
              {"series", Json::array()}};
  for (const auto& look : comparison.looks) {
    if (look.share < 1) all["looks"].push_back({{"after", look.after}, {"share", look.share}});
  }
  all["impossible"] = {{"base", comparison.impossible[0]}, {"new", comparison.impossible[1]}};
  all["base_ranks"] = base_ranks_json(comparison);
  for (const auto& canary : comparison.canaries) all["canaries"].push_back(series_json(canary));
  for (const auto& series : folded_rows(comparison)) all["series"].push_back(series_json(series));
  return all;
}

}  // namespace ucxbench
