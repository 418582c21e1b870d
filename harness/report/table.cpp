#include <fmt/format.h>

#include <algorithm>

#include "harness/report/ablation_view.hpp"
#include "harness/report/chart.hpp"
#include "harness/report/choice.hpp"
#include "harness/report/loggp_view.hpp"
#include "harness/report/matrix_view.hpp"
#include "harness/report/report.hpp"
#include "harness/report/sections.hpp"
#include "harness/report/text.hpp"
#include "harness/report/view.hpp"
#include "harness/result/words.hpp"

namespace ucxbench {
namespace {

constexpr const char* bold = "1";
constexpr const char* dim = "2";
constexpr const char* red = "31";
constexpr const char* yellow = "33";

/// Of a table on a terminal, and of findings that are shown unasked.
constexpr std::size_t most_rows = 12;
constexpr std::size_t most_findings = 3;

class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  void line(const std::string& text, const char* style = nullptr) { add(on_one_line(text), style); }

  void paragraph(const std::string& text, const std::string& indent, const char* style = nullptr) {
    auto lines = wrapped(text, indent, page_width());
    lines.pop_back();
    add(lines, style);
  }

  /// "  name            text", the text's further lines under its first.
  void named(const std::string& name, const std::string& text) {
    hanging(fmt::format("  {:<16}", name), text, dim);
  }

  void finding(const std::string& severity, const std::string& text, const char* style) {
    hanging(fmt::format("{:<9}", severity), text, style);
  }

  /// What limits a row stands below the table where there is no room in it.
  void grid(Grid grid) {
    auto text = aligned(grid);
    const bool wide = std::ranges::any_of(
        text.rows, [](const std::string& row) { return row.size() > page_width(); });
    std::vector<std::string> limits;
    if (wide && grid.columns.back().name == limited_by) {
      grid.columns.pop_back();
      for (auto& row : grid.rows) {
        limits.push_back(fmt::format("{} {}: {}", row[0], row[1], row.back()));
        row.pop_back();
      }
      text = aligned(grid);
    }
    for (const auto& header : text.header) line(header, bold);
    for (const auto& row : text.rows) line(row);
    for (const auto& limit : limits) named(limited_by, limit);
  }

  const std::string& text() const { return text_; }

 private:
  void hanging(const std::string& head, const std::string& text, const char* style) {
    auto lines = wrapped(text, std::string(head.size(), ' '), page_width());
    lines.replace(0, head.size(), on_one_line(head));
    lines.pop_back();
    add(lines, style);
  }

  /// Lines whose text is literal.
  void add(const std::string& text, const char* style) {
    text_ += (color_ && style ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : text) + "\n";
  }

  bool color_;
  std::string text_;
};

/// Of so many rows the first, the last and those evenly between them.
Grid thinned(Grid grid) {
  const auto all = grid.rows.size();
  if (all <= most_rows) return grid;
  std::vector<std::vector<std::string>> kept;
  for (std::size_t row = 0; row < most_rows; ++row) {
    kept.push_back(std::move(grid.rows[row * (all - 1) / (most_rows - 1)]));
  }
  grid.rows = std::move(kept);
  return grid;
}

void add_block(Page& page, const Block& block, const Result& result, const RenderOptions& options) {
  page.line(block.title, bold);
  if (!block.measured.empty()) {
    page.paragraph(details_of(block, result), "  ", dim);
    if (options.brief) {
      for (const auto& line : charts_of(block)) page.line("  " + line);
    }
    for (const auto& [title, grid] : sections_of(block)) {
      if (!title.empty()) page.line("  " + title, dim);
      const bool thin = options.brief && !options.all_rows && block.kind() == ViewKind::curve;
      const auto shown = thin ? thinned(grid) : grid;
      if (shown.columns.back().name == limited_by) {
        page.grid(shown);
      } else {
        for (auto& part : fitted(shown, page_width())) page.grid(std::move(part));
      }
      if (thin && grid.rows.size() > most_rows) {
        page.line(
            fmt::format("  {} of {} rows; --all-rows shows the rest", most_rows, grid.rows.size()),
            dim);
      }
    }
  }
  for (const auto& [failed, line] : not_measured(block)) {
    page.paragraph(line, "  ", failed ? red : yellow);
  }
  for (const auto& [name, text] : costs_of(block)) page.named(name, text);
  page.line("");
}

const char* style_of(const std::string& severity) {
  return severity == "error" ? red : severity == "warning" ? yellow : nullptr;
}

/// Of a run without cases, as doctor's, the findings are all that there is to say.
void add_findings(Page& page, const Result& result, bool all) {
  all |= result.cases.empty();
  auto findings = findings_in_words(result);
  if (!all && !has_figures(result)) std::erase_if(findings, &FindingLine::of_quality);
  const auto total = findings.size();
  if (!all) {
    std::erase_if(findings, &FindingLine::of_quality);
    if (findings.size() > most_findings) findings.resize(most_findings);
  }
  if (total > 0) page.line("");
  for (const auto& finding : findings) {
    page.finding(finding.severity, finding.text, style_of(finding.severity));
  }
  if (findings.size() == total) return;
  page.line(
      fmt::format("{}: {}",
                  counted(total - findings.size(), findings.empty() ? "finding" : "more finding"),
                  result.file.empty()
                      ? "-v shows all"
                      : command_line({"ucx-bench", "report", result.file.string(), "--findings"})),
      dim);
}

std::string render_table(const Result& result, const RenderOptions& options) {
  Page page(options.color);
  for (const auto& block : blocks_of(result)) add_block(page, block, result, options);
  for (const auto& [title, grid, crossovers, left_out] : choices_of(result)) {
    page.line(title, bold);
    for (auto& part : fitted(grid, page_width())) page.grid(std::move(part));
    for (const auto& line : crossovers) page.paragraph(line, "  ");
    for (const auto& line : left_out) page.paragraph(line, "  ");
    page.line("");
  }
  for (const auto& [title, grid] : ablation_sections(result)) {
    page.line(title, bold);
    page.grid(grid);
    page.line("");
  }
  for (const auto& [title, grid] : loggp_sections(result)) {
    page.line(title, bold);
    page.grid(grid);
    page.line("");
  }
  for (const auto& [name, text] : environment_of(result)) page.named(name, text);
  add_findings(page, result, options.findings);
  return page.text();
}

const RegisterFormat table_format{
    {.name = "table",
     .description = "tables for the terminal, at most 100 columns wide",
     .render = render_table}};

}  // namespace
}  // namespace ucxbench
