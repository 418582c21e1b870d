#include "harness/report/expected_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "harness/core/units.hpp"
#include "harness/report/view.hpp"
#include "harness/result/expected.hpp"

namespace ucxbench {
namespace {

// "0 B to 92 B", "256 KiB and up".
std::string sizes_with(const Expected& of) {
  if (!of.from) return no_cell;
  if (!of.to) return spaced_size(*of.from) + " and up";
  if (*of.from == *of.to) return spaced_size(*of.from);
  return fmt::format("{} to {}", spaced_size(*of.from), spaced_size(*of.to));
}

}  // namespace

std::vector<Section> expected_sections(const Block& block) {
  std::vector<Section> sections;
  for (const auto* metric : {"latency_us", "bandwidth_GBps"}) {
    Grid grid;
    bool coarse = false;
    for (const auto* of : block.measured) {
      const auto found = expected_of(*of, metric);
      if (!found) continue;
      coarse |= !found->by_request;
      auto row = axis_cells(*of);
      row.insert(
          row.end(),
          {significant(found->measured, 4), significant(found->expected, 4),
           significant(found->times_as_long(), 3) + interval_behind(found->times_interval()),
           found->protocol.empty() ? no_cell : on_one_line(found->protocol), sizes_with(*found)});
      grid.rows.push_back(std::move(row));
    }
    if (grid.rows.empty()) continue;
    const auto shown = shown_metric(*block.measured.front(), metric);
    const auto group = fmt::format("{}, {}", shown.title, shown.unit);
    grid.columns = {{group, "measured"},
                    {group, "expected"},
                    {"", "time / estimate"},
                    {"", "protocol"},
                    {"", "used for sizes"}};
    add_axes(grid, block);
    sections.push_back({coarse ? "UCX's estimate (ucp_ep_evaluate_perf, coarse: the fastest lane "
                                 "alone, without protocols)"
                               : "UCX's estimate",
                        std::move(grid)});
  }
  return sections;
}

}  // namespace ucxbench
