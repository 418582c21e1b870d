#include "harness/report/interval_text.hpp"

#include <algorithm>

namespace ucxbench {
namespace {

constexpr const char* head_of_ci95 = "95% CI";
constexpr const char* head_of_range = "range";

bool is_ci95(const std::optional<Interval>& interval) {
  return interval && interval->kind == Interval::Kind::ci95;
}

template <typename Text>
void add_column(Grid& grid, const std::string& group,
                const std::vector<std::optional<Interval>>& column, Text text) {
  if (std::ranges::none_of(column, [](const auto& of) { return of.has_value(); })) return;
  const auto head = interval_head(column);
  grid.columns.push_back({group, head});
  for (std::size_t row = 0; row < column.size(); ++row) {
    const bool says_so = column[row] && !is_ci95(column[row]) && head == head_of_ci95;
    grid.rows[row].push_back(text(column[row]) + (says_so ? " (range)" : ""));
  }
}

}  // namespace

std::string interval_cell(const std::optional<Interval>& interval, int digits) {
  if (!interval) return no_cell;
  return significant(interval->low, digits) + ".." + significant(interval->high, digits);
}

std::string percent_behind(const std::optional<Interval>& interval) {
  return interval_behind(scaled(interval, 100), 2);
}

std::string interval_head(const std::vector<std::optional<Interval>>& column) {
  const bool range = std::ranges::any_of(column, [](const auto& of) { return of.has_value(); }) &&
                     std::ranges::none_of(column, is_ci95);
  return range ? head_of_range : head_of_ci95;
}

void add_intervals(Grid& grid, const std::string& group,
                   const std::vector<std::optional<Interval>>& column, int digits) {
  add_column(grid, group, column,
             [&](const std::optional<Interval>& of) { return interval_cell(of, digits); });
}

void add_prefixed_intervals(Grid& grid, const std::string& group,
                            const std::vector<std::optional<Interval>>& column) {
  add_column(grid, group, column, [](const std::optional<Interval>& of) {
    return of ? prefixed(of->low, 3) + ".." + prefixed(of->high, 3) : std::string(no_cell);
  });
}

}  // namespace ucxbench
