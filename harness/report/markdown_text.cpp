#include "harness/report/markdown_text.hpp"

#include <string_view>
#include <vector>

namespace ucxbench {
namespace {

std::string row_of(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

}  // namespace

std::string markdown_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\|<*_`[]#~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_table(const Grid& grid) {
  std::vector<std::string> names;
  std::string group;
  for (const auto& column : grid.columns) {
    const bool begins = column.group != group && !column.group.empty();
    names.push_back((begins ? markdown_escaped(column.group) + "<br>" : "") +
                    markdown_escaped(column.name));
    group = column.group;
  }
  std::string out = row_of(names);
  out += row_of(std::vector<std::string>(names.size(), "---:"));
  for (const auto& row : grid.rows) out += row_of(row);
  return out + "\n";
}

}  // namespace ucxbench
