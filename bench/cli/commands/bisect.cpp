#include "bench/cli/commands/bisect.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

bool is_one_of(const Json& cell, std::initializer_list<Change> changes) {
  return std::ranges::any_of(
      changes, [&](Change change) { return cell.at("verdict") == to_string(change); });
}

bool has_changed(const Json& cell) {
  return is_one_of(cell, {Change::regressed, Change::improved});
}

const Json* cell_of(const Json& row, const std::string& name) {
  const auto cell = row.at("cells").find(name);
  return cell == row.at("cells").end() ? nullptr : &*cell;
}

double change_in(const Json& cell) { return std::log(cell.at("ratio").get<double>()); }

}  // namespace

Bisected bisect(std::size_t last, const std::function<HasIt(std::size_t)>& has_it) {
  Bisected found{.without = 0, .with = last};
  std::set<std::size_t> unknown;
  for (;;) {
    std::optional<std::size_t> next;
    const auto off_middle = [&](std::size_t at) {
      const auto to_lower = at - found.without;
      const auto to_upper = found.with - at;
      return std::max(to_lower, to_upper) - std::min(to_lower, to_upper);
    };
    for (auto at = found.without + 1; at < found.with; ++at) {
      if (!unknown.contains(at) && (!next || off_middle(at) < off_middle(*next))) next = at;
    }
    if (!next) return found;
    switch (has_it(*next)) {
      case HasIt::no:
        found.without = *next;
        break;
      case HasIt::yes:
        found.with = *next;
        break;
      case HasIt::unknown:
        unknown.insert(*next);
        break;
    }
  }
}

std::optional<Followed> most_changed(const Json& versions, const std::string& name) {
  std::optional<Followed> most;
  const auto& rows = versions.at("rows");
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto* cell = cell_of(rows[row], name);
    if (cell == nullptr || !has_changed(*cell)) continue;
    const auto change = change_in(*cell);
    if (!most || std::abs(change) > std::abs(most->change)) most = {row, change};
  }
  return most;
}

HasIt has_change(const Json& versions, const Followed& followed, const std::string& name) {
  const auto* cell = cell_of(versions.at("rows").at(followed.row), name);
  if (cell == nullptr) return HasIt::unknown;
  if (is_one_of(*cell, {Change::unchanged})) return HasIt::no;
  if (!has_changed(*cell)) return HasIt::unknown;
  return change_in(*cell) / followed.change > 0.5 ? HasIt::yes : HasIt::no;
}

std::string why_undecided(const Json& versions, const std::string& key, const std::string& name) {
  const auto& all = versions.at("versions");
  const auto version =
      std::ranges::find_if(all, [&](const Json& of) { return of.at("name") == name; });
  if (const auto problem = text_at(*version, "/problem", ""); !problem.empty()) return problem;
  const auto& failed = version->at("failed");
  if (failed.contains(key)) return failed.at(key).get<std::string>();
  bool any = false;
  for (const auto& row : versions.at("rows")) {
    const auto* cell = cell_of(row, name);
    if (cell == nullptr) continue;
    any = true;
    if (has_changed(*cell) || is_one_of(*cell, {Change::unchanged})) continue;
    return text_at(row, "/metric") + " is " + text_at(*cell, "/verdict") + ": " +
           text_at(*cell, "/why", "nobody knows why");
  }
  return any ? "" : "it was not measured";
}

std::string name_of_row(const Json& versions, const Followed& followed) {
  const auto& row = versions.at("rows").at(followed.row);
  const auto pair = text_at(row, "/pair/text", "");
  return text_at(row, "/metric") + (pair.empty() ? "" : " " + pair);
}

}  // namespace ucxbench
