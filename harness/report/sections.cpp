#include "harness/report/sections.hpp"

#include "harness/report/first_messages.hpp"
#include "harness/report/matrix_view.hpp"
#include "harness/report/workload_view.hpp"

namespace ucxbench {

std::vector<Section> sections_of(const Block& block) {
  std::vector<Section> sections;
  const auto add = [&](const std::string& title, Grid grid) {
    if (!grid.rows.empty()) sections.push_back({title, std::move(grid)});
  };
  if (has_first_messages(block)) {
    add("", first_messages_of(block));
    return sections;
  }
  if (is_matrix(*block.cases.front())) {
    add("", matrix_rates_of(block));
    for (const auto* of : block.measured) {
      add("GB/s, " + matrix_title(*of) + ", from (row) to (column)", matrix_of(*of));
      add("the slowest, " + matrix_title(*of), slowest_of(*of));
      add("against what links carry, " + matrix_title(*of), against_limits(*of));
    }
    return sections;
  }
  if (!is_workload(*block.cases.front())) {
    add("", metrics_of(block));
    add("", pairs_of(block));
    if (!block.measured.empty()) {
      const auto& largest = *block.measured.back();
      add("against what links carry, " + size_of(largest), against_limits(largest));
    }
    return sections;
  }
  add("", workload_metrics_of(block));
  for (const auto* of : block.measured) {
    const auto ranks = block.measured.size() > 1 ? ", " + ranks_in_words(*of) : std::string();
    add("phases" + ranks, phases_of(*of));
    add("flows" + ranks + ", the slowest first", flows_of(*of));
    if (of->pairs.size() > 2) {
      add("goodput, GB/s" + ranks + ", from (row) to (column)", matrix_of(*of, "goodput_GBps"));
    }
  }
  return sections;
}

}  // namespace ucxbench
