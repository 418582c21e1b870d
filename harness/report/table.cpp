#include <fmt/format.h>

#include "harness/report/choice.hpp"
#include "harness/report/report.hpp"
#include "harness/report/sections.hpp"
#include "harness/report/text.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

constexpr const char* bold = "1";
constexpr const char* dim = "2";
constexpr const char* red = "31";
constexpr const char* yellow = "33";

class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  void line(const std::string& text, const char* style = nullptr) {
    text_ += painted(text, style) + "\n";
  }

  void paragraph(const std::string& text, const std::string& indent, const char* style = nullptr) {
    auto lines = wrapped(text, indent, page_width);
    lines.pop_back();
    line(lines, style);
  }

  /// "  name        text", the text's further lines under its first.
  void named(const std::string& name, const std::string& text) {
    hanging(fmt::format("  {:<12}", name), text, dim);
  }

  void finding(const std::string& severity, const std::string& text) {
    const auto* const style = severity == "error" ? red : severity == "warning" ? yellow : nullptr;
    hanging(fmt::format("{:<9}", severity), text, style);
  }

  void grid(const Grid& grid) {
    const auto text = aligned(grid);
    for (const auto& header : text.header) line(header, bold);
    for (const auto& row : text.rows) line(row);
  }

  const std::string& text() const { return text_; }

 private:
  void hanging(const std::string& head, const std::string& text, const char* style) {
    auto lines = wrapped(text, std::string(head.size(), ' '), page_width);
    lines.replace(0, head.size(), head);
    lines.pop_back();
    line(lines, style);
  }

  std::string painted(const std::string& text, const char* style) const {
    return color_ && style ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : text;
  }

  bool color_;
  std::string text_;
};

void add_block(Page& page, const Block& block, const Result& result) {
  page.line(block.title, bold);
  if (!block.measured.empty()) {
    page.paragraph(details_of(block, result), "  ", dim);
    for (const auto& [title, grid] : sections_of(block)) {
      if (!title.empty()) page.line("  " + title, dim);
      page.grid(grid);
    }
  }
  for (const auto& [failed, line] : not_measured(block)) {
    page.paragraph(line, "  ", failed ? red : yellow);
  }
  for (const auto& [name, text] : costs_of(block)) page.named(name, text);
  page.line("");
}

std::string render_table(const Result& result, const RenderOptions& options) {
  Page page(options.color);
  const auto findings = findings_in_words(result);
  for (const auto& [severity, text] : findings) page.finding(severity, text);
  if (!findings.empty()) page.line("");
  for (const auto& block : blocks_of(result)) add_block(page, block, result);
  for (const auto& [title, grid, crossovers] : choices_of(result)) {
    page.line(title, bold);
    page.grid(grid);
    for (const auto& line : crossovers) page.paragraph(line, "  ");
    page.line("");
  }
  for (const auto& [name, text] : environment_of(result)) page.named(name, text);
  return page.text();
}

const RegisterFormat table_format{
    {.name = "table",
     .description = "tables for the terminal, at most 100 columns wide",
     .render = render_table}};

}  // namespace
}  // namespace ucxbench
