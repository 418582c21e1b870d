#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/report/text.hpp"
#include "harness/result/interval.hpp"

namespace ucxbench {

/// "1.20..1.31"; "-" where there is none.
std::string interval_cell(const std::optional<Interval>& interval, int digits = 4);

/// interval_behind of a share, in per cent: " (68..93)".
std::string percent_behind(const std::optional<Interval>& interval);

/// "95% CI", or "range" where no interval of the column is one of 95 %.
std::string interval_head(const std::vector<std::optional<Interval>>& column);

/// A column of a grid behind its medians, from an interval for each of its rows; none where no row
/// has one. A range below the head "95% CI" says that it is one.
void add_intervals(Grid& grid, const std::string& group,
                   const std::vector<std::optional<Interval>>& column, int digits = 4);

/// The same of counts: "1.20M..1.31M".
void add_prefixed_intervals(Grid& grid, const std::string& group,
                            const std::vector<std::optional<Interval>>& column);

}  // namespace ucxbench
