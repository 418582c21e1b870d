#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/report/text.hpp"
#include "harness/result/cases.hpp"

namespace ucxbench {

/// Who, where and how: ranks, pairs, CPUs, lanes, launches, the other parameters. Empty when
/// nothing was measured.
std::string details_of(const Block& block, const Result& result);

/// What latency_us of a case is: "latency one way", "time of one get".
std::string latency_in_words(const Case& of);

/// A column for each axis of the block's cases, before the others, and a row's cells in them.
void add_axes(Grid& grid, const Block& block);
std::vector<std::string> axis_cells(const Case& of);

/// One row per measured case: latency, bandwidth, message rate, and what else is listed, as far as
/// they were measured.
Grid metrics_of(const Block& block);

/// With several pairs at once: one row per pair, at the smallest and the largest size.
Grid pairs_of(const Block& block);

/// "skipped 8 B to 1 MiB (18 cases): reason", one per reason; `failed` tells the serious ones.
struct NotMeasured {
  bool failed = false;
  std::string line;
};
std::vector<NotMeasured> not_measured(const Block& block);

/// What was paid once, what measuring costs, what was verified; as (name, text).
std::vector<std::pair<std::string, std::string>> costs_of(const Block& block);

/// A recorded finding.
struct FindingLine {
  std::string severity;  ///< "error", "warning", "note"
  std::string text;      ///< "subject: evidence; costs 1.20 ms -> what to do [id]"
  bool of_quality;       ///< how far the figures can be trusted, not what they are
};
/// Worst first.
std::vector<FindingLine> findings_in_words(const Result& result);

/// Where, with what, and how far to be trusted: as (name, text).
std::vector<std::pair<std::string, std::string>> environment_of(const Result& result);

}  // namespace ucxbench
