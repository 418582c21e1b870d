#include "harness/report/ablation_view.hpp"
#include "harness/report/check_view.hpp"
#include "harness/report/choice.hpp"
#include "harness/report/loggp_view.hpp"
#include "harness/report/markdown_text.hpp"
#include "harness/report/report.hpp"
#include "harness/report/sections.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {
namespace {

std::string bullet(const std::string& name, const std::string& text) {
  return "- **" + for_markdown(name) + "**: " + for_markdown(text) + "\n";
}

std::string render_markdown(const Result& result, const RenderOptions&) {
  std::string out;
  for (const auto& [verdict, text] : verdicts_in_words(result)) {
    out +=
        out.empty() ? "### " + verdict + ": " + for_markdown(text) + "\n\n" : bullet(verdict, text);
  }
  if (!out.empty()) out += "\n";
  for (const auto& block : blocks_of(result)) {
    out += "### " + for_markdown(block.title) + "\n\n";
    if (!block.measured.empty()) {
      out += for_markdown(details_of(block, result)) + "\n\n";
      for (const auto& [title, grid] : sections_of(block)) {
        if (!title.empty()) out += for_markdown(title) + "\n\n";
        out += markdown_table(grid);
      }
    }
    for (const auto& [failed, line] : not_measured(block)) out += "- " + for_markdown(line) + "\n";
    for (const auto& [name, text] : costs_of(block)) out += bullet(name, text);
    out += "\n";
  }
  for (const auto& [title, grid, crossovers, left_out] : choices_of(result)) {
    out += "### " + for_markdown(title) + "\n\n" + markdown_table(grid);
    for (const auto* lines : {&crossovers, &left_out}) {
      for (const auto& line : *lines) out += "- " + for_markdown(line) + "\n";
    }
    out += "\n";
  }
  for (const auto& [title, grid] : ablation_sections(result)) {
    out += "### " + for_markdown(title) + "\n\n" + markdown_table(grid) + "\n";
  }
  for (const auto& [title, grid] : loggp_sections(result)) {
    out += "### " + for_markdown(title) + "\n\n" + markdown_table(grid) + "\n";
  }
  for (const auto& [name, text] : environment_of(result)) out += bullet(name, text);
  for (const auto& finding : findings_in_words(result))
    out += bullet(finding.severity, finding.text);
  return out;
}

const RegisterFormat markdown_format{{.name = "markdown",
                                      .description = "GitHub tables, fit for $GITHUB_STEP_SUMMARY",
                                      .render = render_markdown}};

}  // namespace
}  // namespace ucxbench
