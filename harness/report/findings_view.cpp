#include "harness/analysis/findings.hpp"
#include "harness/report/view.hpp"

namespace ucxbench {

std::vector<FindingLine> findings_in_words(const Result& result) {
  std::vector<FindingLine> lines;
  for (const auto& finding : result.findings) {
    auto text = text_at(finding, "/subject") + ": " + text_at(finding, "/evidence");
    if (const auto cost = number_at(finding, "cost_ms")) {
      text += "; costs " + readable_us(*cost * 1e3);
    }
    lines.push_back(
        {text_at(finding, "/severity"),
         text + " -> " + text_at(finding, "/next") + " [" + text_at(finding, "/id") + "]",
         of_quality(finding)});
  }
  return lines;
}

}  // namespace ucxbench
