#include "harness/report/markdown_text.hpp"

#include <vector>

namespace ucxbench {
namespace {

std::string row_of(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

}  // namespace

std::string markdown_table(const Grid& grid) {
  std::vector<std::string> names;
  std::string group;
  for (const auto& column : grid.columns) {
    const bool begins = column.group != group && !column.group.empty();
    names.push_back((begins ? for_markdown(column.group) + "<br>" : "") +
                    for_markdown(column.name));
    group = column.group;
  }
  std::string out = row_of(names);
  out += row_of(std::vector<std::string>(names.size(), "---:"));
  for (auto row : grid.rows) {
    for (auto& cell : row) cell = for_markdown(cell);
    out += row_of(row);
  }
  return out + "\n";
}

}  // namespace ucxbench
