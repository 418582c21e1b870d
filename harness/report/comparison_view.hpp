#pragma once

#include <string>

#include "harness/analysis/comparison/comparison.hpp"
#include "harness/report/text.hpp"

namespace ucxbench {

/// "2 regressed, 46 unchanged", or why there is no verdict at all.
std::string summary_of(const Comparison& comparison);

/// What stands last in each report of a comparison without any verdict, with what to do: "nothing
/// was decided: 10 of 10 rows are inconclusive; …". Empty where a row has a verdict.
std::string nothing_decided(const Comparison& comparison);

/// One row per series.
Grid grid_of(const Comparison& comparison);

/// For the terminal, `verbose` with the share of each placement, and for a step summary. With
/// `brief`, of many rows that say nothing new the first ones.
std::string comparison_table(const Comparison& comparison, bool verbose = false,
                             bool brief = false);
std::string comparison_markdown(const Comparison& comparison);

/// JUnit's XML: a test case for each row of the table, in the class of its case. A loss is a
/// failure, what the new run lacks an error, and a row without a verdict is skipped. Runs that
/// cannot be compared are one error. The host and the time are those of `now`.
std::string comparison_junit(const Comparison& comparison, const Result& now);

/// One of comparison_json's "series".
Json series_json(const SeriesChange& series);

/// {"alpha", "tests", "incomparable", "host_changed", "differences", "placements",
/// "plain_medians" (where they differ from these), "next_steps", "nothing_decided", "base_ranks"
/// ({key: [[rank in the new run, the same in the base run], …]}, where they differ), "impossible"
/// ({"base", "new"}: {key: why no machine gives a figure of that case}), "canaries",
/// "series": [{"key", "metric", "pair" (of a row of one pair of ranks: {"src", "dst", "src_host",
/// "dst_host", "slowest_of", "stands_for", "text"}, see RowPair), "verdict", "labels",
/// "transport_used"
/// ({"base", "new"}), "by"
/// ("launches" or "duets"), "base", "new" (medians of all launches), "matched_base", "matched_new"
/// (which `ratio` is of), "base_launches", "new_launches", "ratio", "interval", "p", "p_corrected",
/// "floor", "base_drift", "new_drift" (relative, first launch to last), "base_modes", "new_modes"
/// ({"low", "high", "share_high"}), "launches_wanted" (of each run, unless something else stands
/// against a verdict, too), "reason", "why"}]}, a canary like a series; unknown, or not there, is
/// null.
Json comparison_json(const Comparison& comparison);

}  // namespace ucxbench
