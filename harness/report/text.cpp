#include "harness/report/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace ucxbench {

std::size_t page_width() {
  constexpr unsigned most = 100;
  constexpr unsigned least = 60;
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return most;
  return std::clamp<unsigned>(window.ws_col, least, most);
}

std::string prefixed(const std::optional<double>& value, int digits) {
  if (!value) return "-";
  double scaled = *value;
  const char* prefix = "";
  for (const char* larger : {"k", "M", "G", "T"}) {
    if (std::abs(scaled) < 1000) break;
    scaled /= 1000;
    prefix = larger;
  }
  return significant(scaled, digits) + prefix;
}

std::string interval_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array() || found->size() != 2) return "-";
  const auto bound = [&](std::size_t at) {
    const auto& value = found->at(at);
    return significant(value.is_number() ? std::optional(value.get<double>()) : std::nullopt, 3);
  };
  return bound(0) + ".." + bound(1);
}

std::string wrapped(const std::string& words, const std::string& indent, std::size_t width) {
  const auto text = on_one_line(words);
  std::string out;
  std::string line = indent;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    const bool first = line.size() == indent.size();
    if (!first && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (first ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return out + line + "\n";
}

AlignedGrid aligned(Grid grid) {
  const auto count = grid.columns.size();
  for (auto& row : grid.rows) {
    for (auto& cell : row) cell = on_one_line(cell);
  }
  std::vector<std::size_t> widths(count);
  for (std::size_t c = 0; c < count; ++c) {
    widths[c] = grid.columns[c].name.size();
    for (const auto& row : grid.rows) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string groups;
  bool grouped = false;
  for (std::size_t first = 0, last = 0; first < count; first = last + 1) {
    const auto& group = grid.columns[first].group;
    std::size_t span = widths[first];
    for (last = first; last + 1 < count && grid.columns[last + 1].group == group;) {
      span += 2 + widths[++last];
    }
    if (group.size() > span) widths[last] += group.size() - span;
    groups += fmt::format("  {:^{}}", group, span);
    grouped |= !group.empty();
  }
  groups.erase(groups.find_last_not_of(' ') + 1);
  std::string names;
  for (std::size_t c = 0; c < count; ++c) {
    names += fmt::format("  {:>{}}", grid.columns[c].name, widths[c]);
  }
  AlignedGrid out;
  if (grouped) out.header.push_back(groups);
  out.header.push_back(names);
  for (const auto& row : grid.rows) {
    std::string line;
    for (std::size_t c = 0; c < count; ++c) line += fmt::format("  {:>{}}", row[c], widths[c]);
    out.rows.push_back(line);
  }
  return out;
}

std::string left_aligned(TextRows rows, bool all_columns) {
  for (auto& row : rows) {
    for (auto& cell : row) cell = on_one_line(cell);
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const bool known = std::any_of(rows.begin() + 1, rows.end(), [&](const auto& row) {
      return row[column] != unknown_cell && row[column] != no_cell;
    });
    if (!known && !all_columns && column > 0) continue;
    for (const auto& row : rows) widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (widths[column] > 0) line += fmt::format("  {:<{}}", row[column], widths[column]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text + "\n";
}

std::vector<Grid> fitted(const Grid& grid, std::size_t width) {
  const auto count = grid.columns.size();
  const auto first_group = std::ranges::find_if(
      grid.columns, [](const Grid::Column& column) { return !column.group.empty(); });
  const auto axes = static_cast<std::size_t>(first_group - grid.columns.begin());
  const auto with_axes = [&](std::size_t first, std::size_t end) {
    Grid part{.columns = {}, .rows = std::vector<std::vector<std::string>>(grid.rows.size())};
    for (std::size_t column = 0; column < end; ++column) {
      if (column >= axes && column < first) continue;
      part.columns.push_back(grid.columns[column]);
      for (std::size_t row = 0; row < grid.rows.size(); ++row) {
        part.rows[row].push_back(grid.rows[row][column]);
      }
    }
    return part;
  };
  const auto end_of_group = [&](std::size_t column) {
    const auto& group = grid.columns[column].group;
    while (column < count && grid.columns[column].group == group) ++column;
    return column;
  };
  std::vector<Grid> parts;
  for (auto first = std::min(axes, count); first < count || parts.empty();) {
    auto end = first < count ? end_of_group(first) : count;
    while (end < count) {
      const auto next = end_of_group(end);
      const auto text = aligned(with_axes(first, next));
      if (text.header.back().size() > width) break;
      end = next;
    }
    parts.push_back(with_axes(first, end));
    first = end;
  }
  return parts;
}

}  // namespace ucxbench
