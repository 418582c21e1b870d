#include "harness/report/versions_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "harness/report/comparison_view.hpp"
#include "harness/report/markdown_text.hpp"
#include "harness/report/text.hpp"
#include "harness/result/trouble.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

const Case* find_case(const Result& run, const std::string& key) {
  const auto found = std::ranges::find(run.cases, key, &Case::key);
  return found == run.cases.end() ? nullptr : &*found;
}

// What nobody may miss of a pair of ranks.
bool says_something(const SeriesChange& series) {
  return series.change == Change::regressed || series.change == Change::improved ||
         series.change == Change::failed || series.change == Change::missing;
}

Json pair_of(const SeriesChange& series) {
  if (!series.pair) return {};
  return {{"src", series.pair->src}, {"dst", series.pair->dst}, {"text", in_words(*series.pair)}};
}

// Null of a pair of ranks of which no version had anything to say so far.
Json* row_of(Json& versions, const SeriesChange& series) {
  auto& all = versions["rows"];
  const auto pair = pair_of(series);
  for (auto& row : all) {
    if (row.at("key") == series.key && row.at("metric") == series.metric &&
        row.at("pair") == pair) {
      return &row;
    }
  }
  if (series.pair && !says_something(series)) return nullptr;
  all.push_back({{"key", series.key},
                 {"metric", series.metric},
                 {"pair", pair},
                 {"better", series.better},
                 {"cells", Json::object()}});
  return &all.back();
}

Json text_or_nothing(const std::string& text) { return text.empty() ? Json() : Json(text); }

// A case that one version has not measured says why itself.
std::string reason_of(const Json& series, const Result& now) {
  const auto* of = find_case(now, series.at("key").get<std::string>());
  if (of != nullptr && of->state != CaseState::measured) return of->reason;
  const auto& why = series.at("why");
  return why.is_string() ? why.get<std::string>() : "";
}

// One duet has a ratio, but nobody knows how far off it is.
std::string change_of(const Json& cell) {
  if (cell.at("ratio").is_null() || cell.at("interval").is_null()) return no_cell;
  return fmt::format("{:+.1f}", 100 * (cell.at("ratio").get<double>() - 1));
}

std::string interval_of(const Json& cell) {
  const auto& interval = cell.at("interval");
  if (interval.is_null()) return no_cell;
  return fmt::format("{:+.1f}..{:+.1f}", 100 * (interval[0].get<double>() - 1),
                     100 * (interval[1].get<double>() - 1));
}

// What UCX said in it, each line once: the first version is measured beside each other one.
void add_warnings(Json& version, const Result& run) {
  auto& known = version["ucx_warnings"];
  if (known.is_null()) known = Json::array();
  for (const auto& [kind, line] : ucx_warnings_of(run.ucx)) {
    const auto same = [&](const Json& other) { return other == line; };
    if (std::ranges::none_of(known, same)) known.push_back(line);
  }
}

std::vector<std::string> names_of(const Json& versions) {
  std::vector<std::string> names;
  for (const auto& version : versions.at("versions")) {
    names.push_back(version.at("name").get<std::string>());
  }
  return names;
}

// With the pair of ranks, if the row is of one.
std::string case_of(const Json& row) {
  const auto pair = text_at(row, "/pair/text", "");
  return row.at("key").get<std::string>() + (pair.empty() ? "" : " " + pair);
}

Grid grid_of(const Json& versions) {
  const auto names = names_of(versions);
  // Each version has been measured with a base of its own.
  Grid grid{.columns = {{"", "case"}, {"", "metric"}}, .rows = {}};
  for (std::size_t at = 1; at < names.size(); ++at) {
    const auto alpha = number_at(versions.at("versions")[at], "alpha");
    const auto interval = alpha ? fmt::format("{:g}% CI", 100 * (1 - *alpha)) : "interval";
    for (const auto& column :
         {names.front(), names[at], std::string("change, %"), interval, std::string("verdict")})
      grid.columns.push_back({names[at], column});
  }
  const auto figure = [](const Json& value) {
    return value.is_number() ? significant(value.get<double>(), 4) : std::string(no_cell);
  };
  for (const auto& row : versions.at("rows")) {
    std::vector<std::string> line = {on_one_line(case_of(row)),
                                     row.at("metric").get<std::string>()};
    for (std::size_t at = 1; at < names.size(); ++at) {
      const auto cell = row.at("cells").find(names[at]);
      if (cell == row.at("cells").end()) {
        const auto failed =
            versions.at("versions")[at].at("failed").contains(row.at("key").get<std::string>());
        line.insert(line.end(), {no_cell, no_cell, no_cell, no_cell, failed ? "failed" : no_cell});
        continue;
      }
      line.insert(line.end(), {figure(cell->at("base")), figure(cell->at("new")), change_of(*cell),
                               interval_of(*cell), cell->at("verdict").get<std::string>()});
    }
    grid.rows.push_back(std::move(line));
  }
  return grid;
}

// What stands beside changes: how the messages went before and after; and who could not run.
std::vector<std::string> remarks_of(const Json& versions) {
  std::vector<std::string> lines;
  for (const auto& version : versions.at("versions")) {
    const auto name = version.at("name").get<std::string>();
    for (const auto& line : version.value("labels", Json::array()))
      lines.push_back(fmt::format("{}: {}", name, line.get<std::string>()));
    const auto& problem = version.at("problem");
    if (problem.is_string()) lines.push_back(name + ": " + problem.get<std::string>());
    for (const auto& line : version.value("ucx_warnings", Json::array()))
      lines.push_back(fmt::format("{}: UCX says: {}", name, line.get<std::string>()));
    for (const auto& [key, why] : version.at("failed").items())
      lines.push_back(fmt::format("{}: {}: {}", name, key, why.get<std::string>()));
  }
  for (const auto& row : versions.at("rows")) {
    for (const auto& each : row.at("cells").items()) {
      const Json& cell = each.value();
      const auto text = [&cell](const char* of) {
        return cell.at(of).is_string() ? cell.at(of).get<std::string>() : std::string();
      };
      const auto verdict = text("verdict");
      const auto begin = fmt::format("{}: {}: ", each.key(), case_of(row));
      if (verdict == "missing" || verdict == "failed") lines.push_back(begin + text("why"));
      const bool changed = verdict == "regressed" || verdict == "improved";
      if (!changed || text("before") == text("after")) continue;
      lines.push_back(fmt::format("{}{} -> {}", begin,
                                  text("before").empty() ? unknown_cell : text("before"),
                                  text("after").empty() ? unknown_cell : text("after")));
    }
  }
  std::ranges::sort(lines);
  const auto repeated = std::ranges::unique(lines);
  lines.erase(repeated.begin(), repeated.end());
  // Which version has no verdict at all stands last.
  for (const auto& version : versions.at("versions")) {
    const auto undecided = text_at(version, "/nothing_decided", "");
    if (!undecided.empty())
      lines.push_back(version.at("name").get<std::string>() + ": " + undecided);
  }
  return lines;
}

}  // namespace

std::string way_of(const Case& of, std::string_view metric) {
  if (of.launches.empty()) return "";
  const auto& launch = of.launches.front();
  std::vector<std::string> parts;
  for (const auto& row : launch.path.value("protocols", Json::array())) {
    const auto use = row.value("use", "");
    if (use.empty() || !metric.starts_with(use)) continue;
    parts.push_back(fmt::format("{} by {}, {}", row.value("protocol", ""), row.value("device", ""),
                                row.value("range", "")));
  }
  if (!launch.lanes.empty()) parts.push_back(fmt::format("lanes {}", fmt::join(launch.lanes, " ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void add_version(Json& versions, const std::string& name, const Result& base, const Result& now,
                 const Comparison& comparison) {
  add_warnings(versions.at("versions").front(), base);
  const auto undecided = text_or_nothing(nothing_decided(comparison));
  for (auto& version : versions.at("versions")) {
    if (version.at("name") != name) continue;
    version["nothing_decided"] = undecided;
    version["alpha"] = comparison.alpha;
    version["labels"] = lines_of_labels(comparison);
    add_warnings(version, now);
  }
  for (const auto& change : comparison.series) {
    auto* row = row_of(versions, change);
    if (row == nullptr) continue;
    const auto series = series_json(change);
    auto& cell = (*row)["cells"][name];
    for (const auto* field : {"verdict", "ratio", "interval", "p_corrected", "by"})
      cell[field] = series.at(field);
    for (const auto* side : {"base", "new"}) {
      const auto matched = std::string("matched_") + side;
      cell[side] = series.at(series.at(matched).is_null() ? side : matched);
      cell[std::string("plain_") + side] = series.at(side);
    }
    cell["why"] = text_or_nothing(reason_of(series, now));
    const auto key = series.at("key").get<std::string>();
    const auto metric = series.at("metric").get<std::string>();
    for (const auto& [field, run] : {std::pair{"before", &base}, {"after", &now}}) {
      const auto* of = find_case(*run, key);
      cell[field] = of == nullptr ? Json() : text_or_nothing(way_of(*of, metric));
    }
  }
}

std::string versions_table(const Json& versions) {
  std::string text;
  if (!versions.at("rows").empty()) {
    const auto lines = aligned(grid_of(versions));
    for (const auto& header : lines.header) text += header + "\n";
    for (const auto& row : lines.rows) text += row + "\n";
  }
  for (const auto& line : remarks_of(versions)) text += wrapped("! " + line, "  ", page_width());
  return text;
}

std::string versions_markdown(const Json& versions) {
  auto grid = grid_of(versions);
  auto text = markdown_table(grid);
  for (const auto& line : remarks_of(versions)) text += "- " + for_markdown(line) + "\n";
  return text;
}

}  // namespace ucxbench
