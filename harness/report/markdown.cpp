#include <fmt/format.h>

#include <string_view>

#include "harness/report/choice.hpp"
#include "harness/report/report.hpp"
#include "harness/report/sections.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

/// Text that Markdown would take for markup, made literal.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\|<*_`[]#~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string row_of(const std::vector<std::string>& cells) {
  return "| " + join(cells, " | ") + " |\n";
}

std::string table_of(const Grid& grid) {
  std::vector<std::string> names;
  std::string group;
  for (const auto& column : grid.columns) {
    const bool begins = column.group != group && !column.group.empty();
    names.push_back((begins ? escaped(column.group) + "<br>" : "") + escaped(column.name));
    group = column.group;
  }
  std::string out = row_of(names);
  out += row_of(std::vector<std::string>(names.size(), "---:"));
  for (const auto& row : grid.rows) out += row_of(row);
  return out + "\n";
}

std::string bullet(const std::string& name, const std::string& text) {
  return "- **" + escaped(name) + "**: " + escaped(text) + "\n";
}

std::string render_markdown(const Result& result, const RenderOptions&) {
  std::string out;
  for (const auto& block : blocks_of(result)) {
    out += "### " + escaped(block.title) + "\n\n";
    if (!block.measured.empty()) {
      out += escaped(details_of(block, result)) + "\n\n";
      for (const auto& [title, grid] : sections_of(block)) {
        if (!title.empty()) out += escaped(title) + "\n\n";
        out += table_of(grid);
      }
    }
    for (const auto& [failed, line] : not_measured(block)) out += "- " + escaped(line) + "\n";
    for (const auto& [name, text] : costs_of(block)) out += bullet(name, text);
    out += "\n";
  }
  for (const auto& [title, grid, crossovers] : choices_of(result)) {
    out += "### " + escaped(title) + "\n\n" + table_of(grid);
    for (const auto& line : crossovers) out += "- " + escaped(line) + "\n";
    out += "\n";
  }
  for (const auto& [name, text] : environment_of(result)) out += bullet(name, text);
  for (const auto& [subject, evidence, advice] : doubts_of(result)) {
    out += bullet("doubt", subject + ": " + evidence + " → " + advice);
  }
  return out;
}

const RegisterFormat registered{{.name = "markdown",
                                 .description = "GitHub tables, fit for $GITHUB_STEP_SUMMARY",
                                 .render = render_markdown}};

}  // namespace
}  // namespace ucxbench
