#include "harness/report/sections.hpp"

#include <fmt/format.h>

#include "harness/report/expected_view.hpp"
#include "harness/report/first_messages.hpp"
#include "harness/report/matrix_view.hpp"
#include "harness/report/sweep_view.hpp"
#include "harness/report/traffic_view.hpp"
#include "harness/report/workload_view.hpp"

namespace ucxbench {

std::vector<Section> sections_of(const Block& block) {
  std::vector<Section> sections;
  const auto add = [&](const std::string& title, Grid grid) {
    if (!grid.rows.empty()) sections.push_back({title, std::move(grid)});
  };
  if (block.kind() == ViewKind::first_messages) {
    add("", first_messages_of(block));
    return sections;
  }
  if (block.kind() == ViewKind::matrix) {
    add("", matrix_rates_of(block));
    for (const auto* of : block.measured) {
      add("GB/s, " + matrix_title(*of) + ", from (row) to (column)" + widest_interval(*of),
          matrix_of(*of));
      add("the slowest, " + matrix_title(*of), slowest_of(*of));
      add("vs. peak of the path, " + matrix_title(*of), against_limits(*of));
      add(fmt::format("hosts, {}, shares of {}", matrix_title(*of), shares_of_sweep(*of)),
          sweep_hosts_of(*of));
      add("slow ranks of other hosts, " + matrix_title(*of), slow_rails_of(*of));
      add("slow links, " + matrix_title(*of), slow_links_of(*of));
    }
    return sections;
  }
  if (block.kind() != ViewKind::workload) {
    add("", metrics_of(block));
    for (auto& [title, grid] : expected_sections(block)) add(title, std::move(grid));
    add("", pairs_of(block));
    if (!block.measured.empty()) {
      const auto& largest = *block.measured.back();
      add("vs. peak of the path, " + size_of(largest), against_limits(largest));
    }
    return sections;
  }
  add("", workload_metrics_of(block));
  for (const auto* of : block.measured) {
    const auto row = block.measured.size() > 1 ? ", " + row_of(*of) : std::string();
    add("phases" + row, phases_of(*of));
    add("ranks" + row + ", those that waited longest first", waits_of(*of));
    add("messages under way, vs. peak of the path" + row, traffic_of(*of));
    add("flows" + row + ", the slowest first", flows_of(*of));
    if (of->pairs.size() > 2) {
      add("goodput, GB/s" + row + ", from (row) to (column)" + widest_interval(*of, "goodput_GBps"),
          matrix_of(*of, "goodput_GBps"));
    }
  }
  return sections;
}

}  // namespace ucxbench
